//! States, roles and other words of the API, as people read them.

use super::{Language, chinese::WORDS};

/// The word in this language, or itself where it is none of ours.
pub fn word(language: Language, word: &str) -> String {
    match language {
        Language::English => match word {
            "true" => "yes".into(),
            "false" => "no".into(),
            _ => word.replace('_', " "),
        },
        Language::Chinese => {
            WORDS.binary_search_by_key(&word, |(en, _)| en).map_or_else(|_| word.to_owned(), |at| WORDS[at].1.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_order_so_that_each_is_found() {
        assert!(WORDS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(word(Language::Chinese, "running"), "运行中");
        assert_eq!(word(Language::Chinese, "A100-80GB"), "A100-80GB");
        assert_eq!(word(Language::English, "running"), "running");
        assert_eq!(word(Language::English, "end_reached"), "end reached");
    }

    #[test]
    fn everything_that_can_be_done_with_a_lease_has_a_chinese_word() {
        for (path, methods) in server::openapi().paths.paths {
            let verb = path.strip_prefix("/v1/leases/{id}/").filter(|_| methods.post.is_some());
            assert!(verb.is_none_or(|verb| word(Language::Chinese, verb) != verb), "{path}");
        }
    }
}

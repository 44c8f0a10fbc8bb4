//! States, roles and other words of the API, as people read them.

use super::Language;

/// Word of the API, and what it is called in Chinese. English reads the word itself.
const WORDS: &[(&str, &str)] = &[
    ("active", "有效"),
    ("admin", "管理员"),
    ("agent", "节点代理"),
    ("balance_exhausted", "余额耗尽"),
    ("cancelled", "就绪前取消"),
    ("charged", "扣费"),
    ("closed", "已关闭"),
    ("completed", "自行结束"),
    ("cpu", "CPU 核"),
    ("destroy", "销毁"),
    ("destroyed", "已销毁"),
    ("draining", "排空中"),
    ("end", "结束"),
    ("end_reached", "到期"),
    ("ended", "已结束"),
    ("exec", "执行命令"),
    ("extend", "延期"),
    ("failed", "失败"),
    ("false", "否"),
    ("logs", "日志"),
    ("lost", "失联"),
    ("member", "成员"),
    ("no", "否"),
    ("none", "无"),
    ("offered", "可租"),
    ("open", "开放"),
    ("operator", "运营方"),
    ("pending", "待确认"),
    ("queued", "排队中"),
    ("requeue", "重新排队"),
    ("resize", "调整"),
    ("reversed", "冲回"),
    ("revoked", "已吊销"),
    ("running", "运行中"),
    ("simulated", "模拟"),
    ("soft", "软切分"),
    ("start", "启动"),
    ("start_failed", "启动失败"),
    ("starting", "启动中"),
    ("stop", "停止"),
    ("stopped", "已停止"),
    ("stopping", "停止中"),
    ("succeeded", "成功"),
    ("true", "是"),
    ("unfit", "不可用"),
    ("viewer", "只读"),
    ("whole", "整卡"),
    ("yes", "是"),
];

/// The word in this language, or itself where it is none of ours.
pub fn word(language: Language, word: &str) -> String {
    match language {
        Language::English => match word {
            "true" => "yes".into(),
            "false" => "no".into(),
            _ => word.to_owned(),
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
    }
}

//! When a container ended, as far as anybody knows: its engine, or else the last sign of life from its watcher.

use crate::host::{folder::Folder, record::Record, sign::Sign};
use bollard::models::{ContainerState, ContainerStateStatusEnum as Status};
use units::Time;

/// Milliseconds since 1970 of an engine's time; `None` for the year 1, by which engines say "never".
fn wall_ms(text: Option<&str>) -> Option<u64> {
    text?.parse::<Time>().ok().and_then(|time| u64::try_from(time.0).ok())
}

/// Whether it ran at all. An older Podman shows after a restart of the machine what had run as merely created.
pub(super) fn had_started(state: &ContainerState) -> bool {
    wall_ms(state.started_at.as_deref()).is_some()
}

/// Whether it went down with an earlier start of the machine, and not by an end that its engine saw.
pub(super) fn with_the_machine(folder: &Folder, state: &ContainerState) -> bool {
    let now = Sign::now();
    let last = folder.record().ok().flatten().map(|record| last_sign(folder, record, &now));
    last.is_some_and(|last| !last.is_same_boot(&now) && proven_end_ms(state, Some(&last), &now).is_none())
}

/// Milliseconds since it ended. Where nobody saw the end it counts from the last sign of life, and without one from the start.
pub(super) fn ago_ms(folder: &Folder, state: &ContainerState) -> u64 {
    let now = Sign::now();
    let last = folder.record().ok().flatten().map(|record| last_sign(folder, record, &now));
    ended_ago_ms(state, last, &now)
}

/// The watcher writes its record while the container runs: that is a sign too.
fn last_sign(folder: &Folder, record: Record, now: &Sign) -> Sign {
    match Sign::read(&folder.sign_file()) {
        Some(sign) if sign.until(now) < record.since.until(now) => sign,
        _ => record.since,
    }
}

fn ended_ago_ms(state: &ContainerState, last: Option<Sign>, now: &Sign) -> u64 {
    let end = proven_end_ms(state, last.as_ref(), now);
    match last {
        // The engine's time is the wall clock's: only how long after the sign it was can be told from it.
        Some(last) => last.until(now).saturating_sub(end.map_or(0, |end| end.saturating_sub(last.wall_ms))),
        None => end.or(wall_ms(state.started_at.as_deref())).map_or(0, |since| now.wall_ms.saturating_sub(since)),
    }
}

/// When the engine saw it end, in milliseconds since 1970. One that comes up again and finds a container gone says that it ended
/// just then, with no exit code or with 255; that proves nothing, nor does an end after a restart that no container outlives.
fn proven_end_ms(state: &ContainerState, last: Option<&Sign>, now: &Sign) -> Option<u64> {
    if state.status != Some(Status::EXITED) || matches!(state.exit_code, None | Some(-1 | 255)) {
        return None;
    }
    let end = wall_ms(state.finished_at.as_deref())?;
    let outlived = last.is_some_and(|last| !last.is_same_boot(now)) && now.wall_ms.saturating_sub(end) < now.up_ms;
    (!outlived).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;
    /// 2026-01-01T00:00:00Z.
    const MIDNIGHT: u64 = 1_767_225_600_000;

    /// So many minutes after midnight, which was the machine's `boot`th start.
    fn at(boot: &str, up: u64, minute: u64) -> Sign {
        Sign { boot: boot.into(), up_ms: up * MINUTE, wall_ms: MIDNIGHT + minute * MINUTE }
    }

    fn ended(code: i64, finished: &str) -> ContainerState {
        ContainerState {
            status: Some(Status::EXITED),
            exit_code: Some(code),
            started_at: Some("2026-01-01T00:00:00.000000001Z".into()),
            finished_at: Some(finished.into()),
            ..ContainerState::default()
        }
    }

    #[test]
    fn an_end_that_the_engine_saw_counts_and_else_the_last_sign_and_else_the_start() {
        let (never, created) = ("0001-01-01T00:00:00Z", ContainerState { status: Some(Status::CREATED), ..ended(0, "") });
        let signed = |minute| Some(at("a", 100 + minute, minute));
        let (running, restarted) = (at("a", 160, 60), at("b", 5, 60));
        for (case, state, last, now, minutes) in [
            ("seen by both", ended(1, "2026-01-01T00:10:00Z"), signed(10), &running, 50),
            ("seen by the engine", ended(1, "2026-01-01T08:20:00+08:00"), signed(10), &running, 40),
            ("seen before the sign, by another clock", ended(1, "2025-12-31T00:00:00Z"), signed(10), &running, 50),
            ("seen by the engine alone", ended(1, "2026-01-01T00:20:00Z"), None, &running, 40),
            ("found by an engine that was away", ended(255, "2026-01-01T00:59:00Z"), signed(10), &running, 50),
            ("seen by nobody", ended(0, never), signed(10), &running, 50),
            ("nothing is known", ended(0, never), None, &running, 60),
            ("it ended before the restart", ended(1, "2026-01-01T00:20:00Z"), signed(10), &restarted, 40),
            ("found after the restart", ended(1, "2026-01-01T00:56:00Z"), signed(10), &restarted, 50),
            ("lost by the restart", ended(0, never), signed(10), &restarted, 50),
            ("lost by the restart, in older Podman's words", created, signed(10), &restarted, 50),
        ] {
            assert_eq!(ended_ago_ms(&state, last, now), minutes * MINUTE, "{case}");
        }
    }

    #[test]
    fn one_that_never_started_has_not_run() {
        let never = ContainerState { started_at: Some("0001-01-01T00:00:00Z".into()), ..ended(0, "") };
        assert!(had_started(&ended(0, "")) && !had_started(&never));
        assert_eq!(ended_ago_ms(&never, None, &at("a", 1, 1)), 0);
    }
}

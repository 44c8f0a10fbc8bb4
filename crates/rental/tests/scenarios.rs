//! The scenario scripts of `tests/scenarios`, one test each; how they are read stands in `support/script.rs`.
//!
//! Scripts named `B…` are cases of published faults of systems that do the same job. Cases, or parts of them, that the core
//! cannot express, with the reason:
//!
//! - B01, the second body under one idempotency key (409): keys are kept beside the journal, by whoever writes it. Here:
//!   tenants' leases and reports do not mix.
//! - B11, showing "clock off by" and taking the node from offer: the measured offset is known where agents are polled. Here: no
//!   instant of the node's wall clock enters a decision, only how long ago something was.
//! - B13, the report of unbilled teardown: a view over the journal's `lease.stopping` and `fleet.cleared`.
//! - B19, which of two simultaneous writers comes first: there is one writer. Here: each charge is one serial step.
//! - B22, invoices and adjustment lines: there are no invoices yet.
//! - B27, two scheduler processes: there is one writer. Here: a burst equals a sequence.
//! - B41, marking what was not seen: liveness is not an entry until a verdict. Here: missing news changes nothing.
//! - B42, how often an empty list must be repeated: the driver's reconcile loop. Here: no news, and a verdict.
//! - B57, filters, cursors and exports: views. Here: limits count the tenant's own use alone.

mod support;

macro_rules! scenarios {
    ($($name:ident)*) => {
        $(#[test]
        #[allow(non_snake_case, reason = "named after the case")]
        fn $name() {
            support::script::play(stringify!($name));
        })*

        #[test]
        fn every_script_is_played() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios");
            let mut files: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
                .collect();
            files.sort_unstable();
            let mut played = vec![$(stringify!($name)),*];
            played.sort_unstable();
            assert_eq!(files, played);
        }
    };
}

scenarios! {
    B01_tenants_leases_and_reports_do_not_mix
    B11_a_workload_that_ended_in_the_future_ends_now
    B11_a_wrong_node_clock_changes_no_bill
    B13_a_hanging_teardown_costs_the_tenant_nothing
    B18_a_top_up_is_settled_once
    B20_a_node_without_its_deadline_is_the_operators_loss
    B20_prepaid_money_runs_out_on_time
    B20_the_report_of_the_deadline_comes_first
    B22_a_change_inside_a_held_hour_splits_the_charge
    B22_a_dearer_price_ends_the_money_sooner
    B22_a_price_applies_from_its_date
    B22_what_was_free_is_charged_once_it_costs
    B29_memory_shares_never_exceed_the_card
    B30_a_card_is_leased_whole_or_in_shares
    B35_a_request_that_never_starts_does_not_block_the_queue
    B41_unreachable_is_not_terminated
    B42_a_job_cancelled_by_the_site_is_charged_to_its_end
    B42_a_verdict_gives_back_what_was_charged_beyond_it
    B42_an_end_that_nobody_can_place_is_charged_to_the_start
    B42_one_empty_listing_proves_nothing
    B44_a_cancel_during_provisioning_leaves_nothing
    B45_an_evicted_gang_returns_once_to_its_place
    B57_limits_count_the_tenants_own_use
    W1_a_server_for_a_month
    W2_many_cards_for_two_days
    W3_the_peak_of_a_sale
    W5_eight_cards_for_two_weeks
    arrears_end_with_a_payment
    arrears_grace_runs_once
    credit_is_owed_and_paid_back_first
    extend_and_expire
    extend_the_core_was_down_at_the_end
    gang_an_uncovered_run_that_vanishes_is_settled_at_once
    gang_one_member_vanishes
    queue_a_closed_tenants_orders_stay_out
    queue_a_dearer_place_is_not_taken_for_who_said_at_most
    queue_a_gang_spans_nodes_once_the_large_one_is_gone
    queue_a_lease_started_again_waits_like_a_new_one
    queue_a_limit_is_free_once_the_card_is_gone
    queue_a_returned_lease_is_seen_in_its_old_place
    queue_a_shorter_order_needs_less_money
    queue_an_impossible_or_unpaid_head_blocks_nobody
    queue_the_hold_does_not_shrink_while_waiting
    resize_is_given_back_at_the_size_charged
    resize_who_takes_less_needs_no_more_money
    resize_within_limits_and_money
    server_priced_as_a_server
    stop_start_and_destroy_cross
}

//! An order as it is sent.

use super::{Name, SizeBody, ask::milli, instant, price, workload::WorkloadBody};
use crate::{Caller, Problem};
use rental::{
    State,
    lease::{OnFailure, Request},
};
use serde::Deserialize;
use units::{Accept, Ask, Beside, Interval, PoolId, ProjectId, TenantId, Time, Workload};
use utoipa::ToSchema;

/// What is to be rented, and what it is to run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "size": { "units": { "kind": "cpu", "amount": "1" } },
    "workload": { "argv": ["/bin/sh", "-c", "echo hello; sleep 5"] },
}))]
pub struct Order {
    /// How much.
    pub size: SizeBody,
    /// Acceptable models; empty: any that is priced.
    #[serde(default)]
    pub models: Vec<String>,
    /// Least memory of each card in MiB.
    #[serde(default)]
    pub card_memory_mib: u32,
    /// CPU cores beside the cards.
    #[serde(default)]
    #[schema(example = "4.0")]
    pub cpu: Option<String>,
    /// Main memory beside the cards in MiB.
    #[serde(default)]
    pub memory_mib: u32,
    /// Only this pool.
    #[schema(value_type = Option<String>)]
    pub pool: Option<PoolId>,
    /// Labels that a node must carry.
    #[serde(default)]
    pub labels: Vec<String>,
    /// When it ends by itself.
    #[serde(default, deserialize_with = "instant")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Whether to wait where there is no room.
    #[serde(default = "yes")]
    pub wait: bool,
    /// What becomes of it when its service fails: `end` or `requeue`.
    #[serde(default = "end")]
    #[schema(value_type = String, example = "end")]
    pub on_failure: OnFailure,
    /// Most that an hour may cost in all, in CNY.
    #[schema(example = "30")]
    pub max_price: Option<String>,
    /// A name for people, of 1 to 128 characters.
    #[schema(value_type = Option<String>)]
    pub name: Option<Name>,
    /// For which project; the tenant's first, or the key's own, if it is left out.
    #[schema(value_type = Option<String>)]
    pub project: Option<ProjectId>,
    /// What to run.
    #[serde(default)]
    pub workload: Option<WorkloadBody>,
}

fn yes() -> bool {
    true
}

fn end() -> OnFailure {
    OnFailure::End
}

impl Order {
    /// The core's order.
    pub(crate) fn request(&self, caller: &Caller, tenant: TenantId, project: ProjectId) -> Result<Request, Problem> {
        if !caller.owns_in(tenant, project) {
            return Err(Problem::not_found(project));
        }
        let cpu_milli = self.cpu.as_deref().map_or(Ok(0), |cpu| milli("/cpu", cpu))?;
        let beside = Beside {
            cpu_milli: u32::try_from(cpu_milli).map_err(|_| Problem::field("/cpu", "more than any node has"))?,
            memory_mib: self.memory_mib,
        };
        let ask = Ask {
            size: self.size.size("/size")?,
            models: self.models.iter().map(|model| Accept { model: model.clone(), rank: 0 }).collect(),
            card_memory_mib: self.card_memory_mib,
            beside,
            pool: self.pool,
            labels: self.labels.clone(),
            interval: Interval { from: Time(0), until: self.until },
        };
        let most = self.max_price.as_deref().map(|most| price("/max_price", most)).transpose()?;
        Ok(Request { tenant, project, ask, wait: self.wait, on_failure: self.on_failure, most })
    }

    /// For which project: the named one, the key's own, or the tenant's first.
    pub(crate) fn project(&self, caller: &Caller, tenant: TenantId, state: &State) -> Result<ProjectId, Problem> {
        let first = || state.tenancy.projects_of(tenant).next();
        self.project.or(caller.project).or_else(first).ok_or_else(|| Problem::not_found(tenant))
    }

    /// What to run, unless it could never run.
    pub(crate) fn workload(&mut self) -> Result<Workload, Problem> {
        self.workload.take().map_or_else(|| Ok(Workload::default()), |body| body.workload("/workload"))
    }
}

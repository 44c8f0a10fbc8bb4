//! What is ordered: the options of `quote`, `lease create` and `run`, as the body of `POST /v1/leases`.

use crate::{
    app::App,
    ask::{self, Gpu, Quantity, Units},
    client::Call,
    failure::Failure,
};
use clap::{ArgGroup, Args};
use serde_json::{Value, json};
use units::Time;

/// An order. Without a size it is one CPU core.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Order", group(ArgGroup::new("size").args(["server", "units"])))]
pub struct Order {
    /// Cards: A100:8, H100:80GB:2, 'gpu>=24GB', or a share of one A100:0.25,20GB; several models by repeating it
    #[arg(long, value_name = "CARDS")]
    pub gpu: Vec<Gpu>,
    /// Whole servers, of the model named by --gpu if there is one
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "1", value_name = "COUNT")]
    pub server: Option<u32>,
    /// Abstract compute: 100tflops or 4cpu
    #[arg(long, value_name = "AMOUNT", conflicts_with = "gpu")]
    pub units: Option<Units>,
    /// CPU cores; beside cards if there are any
    #[arg(long, value_name = "CORES")]
    pub cpu: Option<String>,
    /// Main memory, such as 8GB
    #[arg(long, value_name = "AMOUNT", value_parser = ask::mib)]
    pub memory: Option<u32>,
    /// Only this pool
    #[arg(long, value_name = "ID")]
    pub pool: Option<String>,
    /// Only nodes with this label; may be repeated
    #[arg(long, value_name = "LABEL")]
    pub label: Vec<String>,
    /// End by itself after so long
    #[arg(long = "for", value_name = "TIME", conflicts_with = "until", value_parser = ask::milliseconds)]
    pub lasting: Option<i64>,
    /// End by itself at this instant (RFC 3339)
    #[arg(long, value_name = "INSTANT")]
    pub until: Option<String>,
    /// Wait in the queue where there is no room now
    #[arg(long)]
    pub queue: bool,
    /// What happens when the platform fails it: end or requeue
    #[arg(long, value_name = "WHAT", default_value = "end", value_parser = ["end", "requeue"])]
    pub on_failure: String,
    /// The most that an hour of it may cost, in CNY
    #[arg(long, value_name = "PRICE")]
    pub max_price: Option<String>,
    /// What people call it
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Run in a container of this image instead of as a process
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Environment, NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub env: Vec<(String, String)>,
    /// Time between TERM and KILL when it is stopped
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = ask::milliseconds)]
    pub grace: i64,
    /// What to run
    #[arg(last = true, value_name = "COMMAND")]
    pub argv: Vec<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("write NAME=VALUE")?;
    Ok((name.into(), value.into()))
}

impl Order {
    /// The call that orders it, of these models. `--for` counts from now on.
    pub fn call(&self, models: &[String]) -> Result<Call, Failure> {
        let now = Time(jiff::Timestamp::now().as_millisecond());
        Ok(Call::post("/v1/leases").of_tenant().body(self.body(models, now)?))
    }

    /// The body of the order.
    pub fn body(&self, models: &[String], now: Time) -> Result<Value, Failure> {
        let size = self.size()?;
        let beside = self.gpu.is_empty() && self.units.is_none() && self.server.is_none();
        let until = self.lasting.map(|ms| now.plus_ms(ms).to_string()).or_else(|| self.until.clone());
        let runtime = self.image.as_ref().map_or_else(|| json!("process"), |image| json!({ "container": image }));
        let env: serde_json::Map<String, Value> = self.env.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        let least = self.gpu.iter().find_map(|gpu| gpu.card.least_mib()).unwrap_or(0);
        let all = json!({
            "size": size, "models": models, "card_memory_mib": least,
            "cpu": if beside { None } else { self.cpu.clone() },
            "memory_mib": self.memory, "pool": self.pool, "labels": self.label, "until": until, "wait": self.queue,
            "on_failure": self.on_failure, "max_price": self.max_price, "name": self.name,
            "workload": { "runtime": runtime, "argv": self.argv, "env": env, "grace_ms": self.grace },
        });
        Ok(without_nulls(all))
    }

    fn size(&self) -> Result<Value, Failure> {
        if let Some(servers) = self.server {
            return Ok(json!({ "servers": servers }));
        }
        if let Some(units) = &self.units {
            return Ok(json!({ "units": { "kind": units.kind, "amount": units.amount } }));
        }
        let Some(first) = self.gpu.first() else {
            let cores = self.cpu.as_deref().unwrap_or("1");
            let amount = ask::thousandths(cores).ok_or_else(|| Failure::Usage(format!("'{cores}' is no number of cores")))?;
            return Ok(json!({ "units": { "kind": "cpu", "amount": amount } }));
        };
        if self.gpu.iter().any(|gpu| gpu.quantity != first.quantity) {
            return Err(Failure::Usage("several --gpu name models to choose from: each must ask for the same quantity".into()));
        }
        match first.quantity {
            Quantity::Cards(cards) => Ok(json!({ "cards": cards })),
            Quantity::Share { compute, memory_mib } => Ok(json!({ "share": { "compute": compute, "memory_mib": memory_mib } })),
        }
    }

    /// The fleet's models that the cards' names mean, as far as they are on offer. A name that means none is passed on: the
    /// server says what there is.
    pub fn models(&self, app: &App) -> Result<Vec<String>, Failure> {
        let named: Vec<&Gpu> = self.gpu.iter().filter(|gpu| gpu.card.name().is_some()).collect();
        if named.is_empty() {
            return Ok(Vec::new());
        }
        // A call that is only shown sends nothing, not even this.
        let offers = if app.client.only_shows() { Value::Null } else { app.send(Call::get("/v1/offers"))?.body };
        let offers: Vec<(&str, u32)> = offers["items"].as_array().into_iter().flatten().filter_map(offered).collect();
        let mut models: Vec<String> = Vec::new();
        for gpu in named {
            let fits = offers.iter().filter(|(model, mib)| gpu.card.accepts(model, *mib)).map(|(model, _)| (*model).to_owned());
            let mut fits: Vec<String> = fits.collect();
            if fits.is_empty() {
                fits.extend(gpu.card.name().map(Into::into));
            }
            models.extend(fits.into_iter().filter(|model| !models.contains(model)).collect::<Vec<_>>());
        }
        Ok(models)
    }
}

fn offered(offer: &Value) -> Option<(&str, u32)> {
    let model = offer["model"].as_str()?;
    Some((model, offer["memory_mib"].as_u64().and_then(|mib| u32::try_from(mib).ok()).unwrap_or(0)))
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        order: Order,
    }

    fn body(words: &str, models: &[&str]) -> Value {
        let line = Line::try_parse_from(std::iter::once("order").chain(words.split(' '))).unwrap();
        let models: Vec<String> = models.iter().map(|m| (*m).to_owned()).collect();
        line.order.body(&models, Time(0)).unwrap()
    }

    #[test]
    fn the_four_granularities_become_sizes() {
        for (words, models, size) in [
            ("--gpu A100:8", vec!["A100-80GB"], json!({"cards": 8})),
            ("--gpu A100 --server", vec!["A100-80GB"], json!({"servers": 1})),
            ("--server=2", vec![], json!({"servers": 2})),
            ("--gpu A100:0.25,20GB", vec!["A100-80GB"], json!({"share": {"compute": 250, "memory_mib": 20_480}})),
            ("--units 100tflops", vec![], json!({"units": {"kind": "tflops", "amount": "100"}})),
            ("--cpu 4", vec![], json!({"units": {"kind": "cpu", "amount": "4"}})),
        ] {
            assert_eq!(body(words, &models)["size"], size, "{words}");
        }
    }

    #[test]
    fn cores_beside_cards_stay_beside_them() {
        let body = body("--gpu gpu>=24GB:2 --cpu 16 --memory 64GB --for 2h -- python train.py", &[]);
        assert_eq!(body["cpu"], "16");
        assert_eq!(body["memory_mib"], 65_536);
        assert_eq!(body["card_memory_mib"], 22_888);
        assert_eq!(body["until"], "1970-01-01T02:00:00.000Z");
        assert_eq!(body["workload"]["argv"], json!(["python", "train.py"]));
        assert_eq!(body.get("max_price"), None);
    }

    #[test]
    fn a_time_to_run_counts_from_when_the_call_is_made() {
        let line = Line::try_parse_from("order --for 4s".split(' ')).unwrap();
        let until = || line.order.call(&[]).unwrap().body.unwrap()["until"].as_str().unwrap().parse::<Time>().unwrap();
        let (now, first) = (Time(jiff::Timestamp::now().as_millisecond()), until());
        assert!(first.since(now) >= 4_000, "the clock is read when the call is made");
        while Time(jiff::Timestamp::now().as_millisecond()).since(now) < 3 {}
        assert!(until() > first, "and again for another call");
    }

    #[test]
    fn a_container_names_its_image_and_a_process_needs_none() {
        assert_eq!(body("--image busybox:1 -- sleep 1", &[])["workload"]["runtime"], json!({"container": "busybox:1"}));
        assert_eq!(body("--env A=b=c -- env", &[])["workload"]["env"], json!({"A": "b=c"}));
        assert_eq!(body("--cpu 1", &[])["workload"]["runtime"], "process");
    }

    #[test]
    fn sizes_that_contradict_each_other_are_refused() {
        for words in ["--units 4cpu --gpu A100", "--units 4cpu --server", "--for 1h --until 2030-01-01T00:00:00Z", "--env x"] {
            assert!(Line::try_parse_from(std::iter::once("order").chain(words.split(' '))).is_err(), "{words}");
        }
        let line = Line::try_parse_from("order --gpu A100:2 --gpu H100:4".split(' ')).unwrap();
        assert!(matches!(line.order.body(&[], Time(0)), Err(Failure::Usage(_))));
    }
}

//! The JSON documents: the fields that scripts rely on, their order at the head, and their values against each other.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn text(args: &str) -> String {
    let o = Command::new(env!("CARGO_BIN_EXE_fatpoint"))
        .args(args.split_whitespace())
        .arg("--json")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"))
        .output()
        .expect("the command runs");
    String::from_utf8(o.stdout).expect("JSON is UTF-8")
}

fn json(args: &str) -> Value {
    let text = text(args);
    let schema = format!("{{\n  \"schema\": \"fatpoint.{}/1\",\n", args.split(' ').next().expect("a verb"));
    assert!(text.starts_with(&schema), "fatpoint {args} begins with {:?}", text.get(..60));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("fatpoint {args}: {e}"))
}

#[track_caller]
fn has(v: &Value, fields: &[&str]) {
    let object = v.as_object().expect("an object");
    for f in fields {
        assert!(object.contains_key(*f), "no field {f} in {:?}", object.keys().collect::<Vec<_>>());
    }
}

const OCCUPANCY: [&str; 14] = [
    "arch",
    "threads",
    "regs",
    "static_smem",
    "dynamic_smem",
    "barriers",
    "blocks_per_sm",
    "warps_per_sm",
    "max_warps_per_sm",
    "occupancy",
    "limiters",
    "limits",
    "next_step",
    "slack_regs",
];

#[test]
fn occupancy() {
    let v = json("occupancy --arch sm_80 --threads 128 --regs 41");
    has(&v, &OCCUPANCY);
    has(&v["limits"], &["registers", "warps", "blocks", "shared_memory", "barriers"]);
    assert_eq!(v["limits"]["barriers"], Value::Null);
    assert_eq!((&v["warps_per_sm"], &v["occupancy"]), (&Value::from(40), &Value::from(0.625)));
    assert_eq!(v["limiters"], serde_json::json!(["registers"]));
    assert_eq!(v["next_step"], serde_json::json!({"regs": 40, "warps_per_sm": 48}));
    assert_eq!(v["slack_regs"], 7);
    assert_eq!(json("occupancy --arch sm_80 --threads 128 --regs 32")["next_step"], Value::Null);
}

#[test]
fn cliffs_are_sorted_and_invert_occupancy() {
    let v = json("cliffs --arch sm_90 --threads 192");
    has(&v, &["arch", "threads", "rows"]);
    let rows = v["rows"].as_array().expect("rows");
    for pair in rows.windows(2) {
        assert!(pair[0]["warps_per_sm"].as_u64() > pair[1]["warps_per_sm"].as_u64());
        assert!(pair[0]["max_regs"].as_u64() < pair[1]["max_regs"].as_u64());
    }
    for row in rows {
        has(row, &["max_regs", "blocks_per_sm", "warps_per_sm", "occupancy"]);
        let o = json(&format!("occupancy --arch sm_90 --threads 192 --regs {}", row["max_regs"]));
        assert_eq!((&o["warps_per_sm"], &o["blocks_per_sm"]), (&row["warps_per_sm"], &row["blocks_per_sm"]));
    }
}

#[test]
fn bounds() {
    let v = json("bounds --arch sm_80 --maxntid 256 --minnctapersm 4");
    has(&v, &["arch", "ceiling", "rule", "accepted", "targets", "diagnostics"]);
    has(&v["accepted"], &["maxntid", "minnctapersm", "maxnreg", "maxrregcount"]);
    assert_eq!((&v["ceiling"], &v["rule"]), (&Value::from(64), &Value::from("bounds")));
    has(&v["targets"][0], &["blocks_per_sm", "max_regs"]);
    let v = json("bounds --arch sm_80 --maxntid 1024 --maxnreg 128");
    has(&v["diagnostics"][0], &["kind", "message"]);
    assert_eq!(v["diagnostics"][0]["kind"], "cannot_launch");
}

#[test]
fn alloc() {
    let v = json("alloc vadd.fp predicates20.ptx live200_maxntid288.ptx missing.ptx");
    has(&v, &["kernels", "failures"]);
    let kernels = v["kernels"].as_array().expect("kernels");
    assert_eq!(kernels.len(), 3);
    for k in kernels {
        has(
            k,
            &[
                "name",
                "source",
                "arch",
                "threads",
                "budget",
                "allocator",
                "schedule",
                "policies",
                "instructions",
                "max_live",
                "used_regs",
                "spill_store_bytes",
                "spill_load_bytes",
                "weighted_spill_cost",
                "spills_by_place",
                "reexecuted_load_bytes",
                "remats",
                "copies",
                "bank_conflicts",
                "occupancy",
                "checked",
                "truncated",
                "input",
            ],
        );
        has(&k["occupancy"], &OCCUPANCY);
        has(&k["spills_by_place"], &["local", "shared", "to_r"]);
        assert_eq!(k["checked"], true);
        assert_eq!(k["occupancy"]["regs"], k["used_regs"]);
        let places = &k["spills_by_place"];
        let bytes = |v: &Value| v.as_u64().expect("a number");
        assert_eq!(
            bytes(&places["local"]) + bytes(&places["shared"]),
            bytes(&k["spill_store_bytes"]) + bytes(&k["spill_load_bytes"])
        );
        // The occupancy reported is that of the registers used.
        let o = json(&format!(
            "occupancy --arch {} --threads {} --regs {} --smem {}",
            k["arch"].as_str().expect("text"),
            k["threads"],
            k["used_regs"],
            k["occupancy"]["static_smem"]
        ));
        assert_eq!(o["warps_per_sm"], k["occupancy"]["warps_per_sm"]);
        assert!(k["used_regs"].as_u64() <= k["budget"].as_u64());
    }
    assert!(bytes_of(&kernels[1], "to_r") > 0, "20 predicates do not fit 7 registers");
    assert!(kernels[2]["spill_store_bytes"].as_u64() > Some(0));
    assert_eq!(v["failures"], serde_json::json!([{"name": "missing.ptx", "error": "no such file"}]));
    assert_eq!(json("alloc vadd.fp --check none")["kernels"][0]["checked"], false);
}

fn bytes_of(kernel: &Value, place: &str) -> u64 {
    kernel["spills_by_place"][place].as_u64().expect("a number")
}

#[test]
fn infeasible_kernels_are_failures() {
    let v = json("alloc wide.fp vadd.fp --budget 10");
    assert_eq!(v["kernels"][0]["name"], "vadd");
    assert_eq!(v["failures"][0]["name"], "wide");
    assert!(v["failures"][0]["error"].as_str().expect("text").contains("the floor is 14"));
}

#[test]
fn waves() {
    let v = json("alloc vadd.fp --grid 4096 --sms 128");
    assert_eq!(v["kernels"][0]["waves"]["count"], 6);
    assert_eq!(v["kernels"][0]["waves"]["exact"].as_f64().map(|x| (x * 100.0).round()), Some(533.0));
}

#[test]
fn pressure() {
    let v = json("pressure loop.fp predicates20.ptx");
    let k = &v["kernels"][0];
    has(k, &["name", "instructions", "classes"]);
    let r = &k["classes"]["R"];
    has(r, &["max_live", "fat_points"]);
    let fat = &r["fat_points"][0];
    has(fat, &["block", "inst", "line", "live", "live_set"]);
    assert_eq!((&fat["block"], &fat["line"], &r["max_live"]), (&Value::from("loop"), &Value::from(7), &fat["live"]));
    // R1 is live everywhere and has no name.
    let units: u64 = fat["live_set"].as_array().expect("values").iter().map(|x| x["units"].as_u64().unwrap()).sum();
    assert_eq!(Some(units + 1), fat["live"].as_u64());
    assert_eq!(v["kernels"][1]["classes"]["P"]["max_live"], 20);
    assert_eq!(json("pressure loop.fp --class P")["kernels"][0]["classes"].as_object().expect("an object").len(), 1);
}

#[test]
fn verify_run_check_archs() {
    let v = json("verify vadd.fp broken.fp");
    assert_eq!(v["kernels"][0]["instructions"], 14);
    assert!(v["failures"][0]["error"].as_str().expect("text").starts_with("broken.fp:4:8: "));
    let v = json("run vadd.fp --seed 3");
    has(&v["kernels"][0], &["name", "seed", "stop", "executed", "events"]);
    assert_eq!(v["kernels"][0]["events"][0]["mnemonic"], "STG.E");
    let v = json("check wrong.alloc");
    assert_eq!(v["kernels"][0]["ok"], false);
    assert_eq!(v["kernels"][0]["errors"].as_array().map(Vec::len), Some(1));
    let v = json("archs");
    assert!(v["archs"].as_array().expect("archs").iter().any(|a| a["name"] == "sm_121"));
}

#[test]
fn the_same_call_gives_the_same_bytes() {
    let args = "alloc vadd.fp loop.fp predicates20.ptx live200_maxntid288.ptx --emit text --check full";
    assert_eq!(text(args), text(args));
}

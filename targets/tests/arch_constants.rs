//! The architecture tables against the reference list of constants and sources.

mod common;

use fatpoint_targets::arch::Source;
use fatpoint_targets::Arch;

/// A constant that the reference data and the tables both have, as `(value, source)`; sizes in
/// bytes, counts bare, an unknown or absent value empty.
fn ours(arch: &Arch, constant: &str) -> Option<(String, Source)> {
    let spec = arch.spec();
    macro_rules! unit {
        ($field:ident) => {
            (spec.$field.value.get().to_string(), spec.$field.source)
        };
    }
    macro_rules! optional {
        ($field:ident, $get:expr) => {
            (spec.$field.value.map_or(String::new(), |v| $get(v).to_string()), spec.$field.source)
        };
    }
    Some(match constant {
        "compute_capability" => (spec.compute_capability.value.to_string(), spec.compute_capability.source),
        "max_warps_per_sm" => unit!(max_warps_per_sm),
        "max_threads_per_sm" => unit!(max_threads_per_sm),
        "max_ctas_per_sm" => unit!(max_blocks_per_sm),
        "max_threads_per_cta" => unit!(max_threads_per_block),
        "registers_per_sm" => unit!(registers_per_sm),
        "registers_per_cta" => unit!(registers_per_block),
        "max_regs_per_thread" => unit!(max_regs_per_thread),
        "smem_per_sm_bytes" => optional!(smem_per_sm, |v: fatpoint_targets::Bytes| v.0),
        "smem_per_cta_default_bytes" => unit!(smem_per_block_default),
        "smem_per_cta_optin_bytes" => {
            optional!(smem_per_block_optin, |v: fatpoint_targets::Bytes| v.0)
        }
        "reserved_smem_per_cta_bytes" => unit!(reserved_smem_per_block),
        "smem_alloc_granularity_bytes" => unit!(smem_alloc_granularity),
        "reg_alloc_unit_per_warp" => unit!(reg_alloc_unit_per_warp),
        "sub_partitions" => (spec.sub_partitions.value.to_string(), spec.sub_partitions.source),
        "cta_barrier_pool" => optional!(barrier_slots_per_sm, |v: u32| v),
        "virtual_resources_per_sm" => {
            let (value, source) = optional!(virtual_resources_per_sm, |v: u32| v);
            (if value.is_empty() { "0".to_owned() } else { value }, source)
        }
        "reg_count_lower_clamp" => {
            optional!(reg_count_lower_clamp, |v: fatpoint_targets::Regs| v.0)
        }
        _ => return None,
    })
}

#[test]
fn all_constants_agree_in_value_and_source() {
    let text = common::read("arch_constants.csv");
    let mut rows = 0;
    let mut products = 0;
    for row in common::rows(&text, "arch,constant,value,source") {
        let [name, constant, value, source] = row[..] else { unreachable!() };
        let arch = Arch::find(name).unwrap();
        let source = match source {
            "header" => Source::Header,
            "public documentation" => Source::Documentation,
            "measured (ptxas)" => Source::Measured,
            "uncertain" => Source::Uncertain,
            other => panic!("{other}"),
        };
        match constant {
            // Derived: the unit per warp over 32 lanes.
            "reg_alloc_granularity_per_thread" => {
                assert_eq!((arch.reg_alloc_unit_per_warp().0 / 32).to_string(), value);
            }
            // Residency counts single warps; the rule has no such number.
            "warp_alloc_granularity" => assert_eq!(value, "1"),
            "smem_carveouts_kb" => {
                let kb: Vec<String> = arch.smem_carveouts().iter().map(|b| (b.0 / 1024).to_string()).collect();
                assert_eq!(kb.join(" "), value, "{name}");
            }
            "sm_count_examples" => {
                let entries: Vec<&str> = value.split(';').collect();
                assert_eq!(entries.len(), arch.products().len(), "{name}");
                for (entry, product) in entries.iter().zip(arch.products()) {
                    let (market, sms) = entry.split_once('=').unwrap();
                    assert_eq!(market, product.name);
                    let sms: String = sms.chars().take_while(char::is_ascii_digit).collect();
                    assert_eq!(sms, product.sms.to_string(), "{name} {market}");
                    assert_eq!(product.source, source, "{name} {market}");
                    products += 1;
                }
            }
            _ => {
                let ours = ours(arch, constant).unwrap_or_else(|| panic!("{constant}"));
                assert_eq!(ours, (value.to_owned(), source), "{name} {constant}");
            }
        }
        rows += 1;
    }
    assert_eq!(rows, 307);
    assert_eq!(products, Arch::all().iter().map(|a| a.products().len()).sum::<usize>());
}

/// Constant bank 0: parameters, block dimensions, stack pointer.
#[test]
fn constant_bank_offsets() {
    for arch in Arch::all() {
        let expected = match arch.compute_capability().major {
            ..=8 => (0x160, 0x0, 0x28),
            9 => (0x210, 0x0, 0x28),
            _ => (0x380, 0x360, 0x37c),
        };
        assert_eq!(
            (arch.param_base().0, arch.ntid_offset().0, arch.stack_base_offset().0),
            expected,
            "{}",
            arch.name()
        );
    }
}

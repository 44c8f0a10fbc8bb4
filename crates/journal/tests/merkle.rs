//! The tree, the tiles and the proofs against the definitions of RFC 6962, written down naively.

mod sample;

use journal::{
    Batch, Entry, Hash, Keys, Memory, Source, Store, Tree, leaf,
    proof::{Prover, consistent, includes},
    tile,
};
use proptest::prelude::*;
use sample::Samples;
use std::{ops::ControlFlow, sync::LazyLock};

const LARGEST: usize = 600;

/// A store of `LARGEST` entries and its leaf hashes.
struct Log {
    store: Memory,
    leaves: Vec<Hash>,
}

// Proofs only read, but a store need not be shareable between threads: each test makes its own from these batches.
static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| Samples::new(Keys::from_seed(3).log()).batch(LARGEST).entries);

fn log(size: usize) -> Log {
    let mut store = Memory::new(Keys::from_seed(3));
    store.append(&Batch { entries: ENTRIES[..size].to_vec(), ..Batch::default() }).unwrap();
    let mut leaves = Vec::new();
    let visit = &mut |stored: journal::Stored<'_>| {
        leaves.push(leaf::hash(stored.leaf_data));
        ControlFlow::Continue(())
    };
    store.read(1, visit).unwrap();
    Log { store, leaves }
}

/// Largest power of two below n.
fn k(n: usize) -> usize {
    let mut power = 1;
    while 2 * power < n {
        power *= 2;
    }
    power
}

/// MTH(D[n]).
fn mth(d: &[Hash]) -> Hash {
    match d {
        [] => leaf::sha256(&[]),
        [one] => *one,
        _ => leaf::node(&mth(&d[..k(d.len())]), &mth(&d[k(d.len())..])),
    }
}

/// PATH(m, D[n]).
fn path(m: usize, d: &[Hash]) -> Vec<Hash> {
    let n = d.len();
    if n == 1 {
        vec![]
    } else if m < k(n) {
        [path(m, &d[..k(n)]), vec![mth(&d[k(n)..])]].concat()
    } else {
        [path(m - k(n), &d[k(n)..]), vec![mth(&d[..k(n)])]].concat()
    }
}

/// SUBPROOF(m, D[n], b).
fn subproof(m: usize, d: &[Hash], b: bool) -> Vec<Hash> {
    let n = d.len();
    if m == n {
        if b { vec![] } else { vec![mth(d)] }
    } else if m <= k(n) {
        [subproof(m, &d[..k(n)], b), vec![mth(&d[k(n)..])]].concat()
    } else {
        [subproof(m - k(n), &d[k(n)..], false), vec![mth(&d[..k(n)])]].concat()
    }
}

#[test]
fn the_naive_split_is_the_largest_power_of_two_below() {
    assert_eq!([2, 3, 4, 5, 8, 9, 512, 513].map(k), [1, 2, 2, 4, 4, 8, 256, 512]);
}

#[test]
fn the_root_of_every_size_is_that_of_rfc_6962_and_restores_from_tiles() {
    let log = log(LARGEST);
    let mut tree = Tree::default();
    let mut tiles = std::collections::BTreeMap::new();
    for size in 0..=LARGEST {
        let root = mth(&log.leaves[..size]);
        assert_eq!(tree.root(), root, "size {size}");
        assert_eq!(Prover::new(&log.store).root(size as u64).unwrap(), root, "size {size}");
        tiles.extend(tree.take_tiles());
        let restored = Tree::restore(size as u64, |id| Ok(tiles.get(&id).cloned().unwrap_or_default())).unwrap();
        assert_eq!(restored.root(), root, "size {size}");
        assert!(tile::all(size as u64).all(|(id, width)| tiles[&id].len() == width), "size {size}");
        if size < LARGEST {
            tree.push(log.leaves[size]);
        }
    }
}

#[test]
fn a_tree_restored_at_any_size_goes_on_as_if_it_had_never_stopped() {
    let log = log(LARGEST);
    for size in [0, 1, 2, 3, 100, 255, 256, 257, 511, 512, 513] {
        let mut tiles = std::collections::BTreeMap::new();
        let mut tree = Tree::default();
        log.leaves[..size].iter().for_each(|leaf| tree.push(*leaf));
        tiles.extend(tree.take_tiles());
        let mut tree = Tree::restore(size as u64, |id| Ok(tiles.get(&id).cloned().unwrap_or_default())).unwrap();
        log.leaves[size..].iter().for_each(|leaf| tree.push(*leaf));
        tiles.extend(tree.take_tiles());
        assert_eq!(tree.root(), mth(&log.leaves));
        for (id, _) in tile::all(LARGEST as u64) {
            assert_eq!(tiles[&id], log.store.tile(id).unwrap(), "{id:?} after {size}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_inclusion_proof_is_that_of_rfc_6962_and_holds((size, index) in (1..=LARGEST).prop_flat_map(|n| (Just(n), 0..n))) {
        let log = log(LARGEST);
        let leaves = &log.leaves[..size];
        let proof = Prover::new(&log.store).inclusion(index as u64, size as u64).unwrap();
        prop_assert_eq!(&proof, &path(index, leaves));
        let holds = |i: usize, n: usize, leaf: &Hash, proof: &[Hash]| includes(i as u64, n as u64, leaf, proof, &mth(leaves));
        prop_assert!(holds(index, size, &leaves[index], &proof));
        prop_assert!(size == 1 || !holds((index + 1) % size, size, &leaves[index], &proof));
        prop_assert!(!holds(index, size, &[0; 32], &proof));
        prop_assert!(!holds(index, size, &leaves[index], &[&proof[..], &[[0; 32]]].concat()));
        for i in 0..proof.len() {
            let mut wrong = proof.clone();
            wrong[i][7] ^= 1;
            prop_assert!(!holds(index, size, &leaves[index], &wrong));
        }
    }

    #[test]
    fn every_consistency_proof_is_that_of_rfc_6962_and_holds((new, old) in (1..=LARGEST).prop_flat_map(|n| (Just(n), 1..=n))) {
        let log = log(LARGEST);
        let (old_root, new_root) = (mth(&log.leaves[..old]), mth(&log.leaves[..new]));
        let proof = Prover::new(&log.store).consistency(old as u64, new as u64).unwrap();
        prop_assert_eq!(&proof, &subproof(old, &log.leaves[..new], true));
        let holds = |old_root: &Hash, new_root: &Hash, proof: &[Hash]| consistent(old as u64, old_root, new as u64, new_root, proof);
        prop_assert!(holds(&old_root, &new_root, &proof));
        prop_assert!(!holds(&[0; 32], &new_root, &proof));
        prop_assert!(!holds(&old_root, &[0; 32], &proof));
        prop_assert!(!holds(&old_root, &new_root, &[&proof[..], &[[0; 32]]].concat()));
        for i in 0..proof.len() {
            let mut wrong = proof.clone();
            wrong[i][7] ^= 1;
            prop_assert!(!holds(&old_root, &new_root, &wrong));
        }
    }
}

#[test]
fn every_tree_is_consistent_with_the_empty_one_and_with_itself_only_without_a_proof() {
    assert!(consistent(0, &[0; 32], 5, &[1; 32], &[]));
    assert!(!consistent(0, &[0; 32], 5, &[1; 32], &[[0; 32]]));
    assert!(consistent(5, &[1; 32], 5, &[1; 32], &[]));
    assert!(!consistent(5, &[1; 32], 5, &[2; 32], &[]));
    assert!(!consistent(6, &[1; 32], 5, &[1; 32], &[]));
}

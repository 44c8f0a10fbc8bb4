//! Inclusion and consistency proofs of RFC 6962, made from tiles and checked without them.

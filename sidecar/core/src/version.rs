//! Which content: blake3 digests, never time stamps (spec: files.md, "The ledger").
//!
//! A `Version` names a text as the model and the editor see it: decoded, without BOM, line
//! endings as LF, so that opening or closing a document does not make it look changed. A
//! `RawHash` names file bytes and serves the compare-and-swap alone. The two never mix.

use std::fmt;

/// blake3 of a decoded text, without BOM, line endings as LF.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u8; 32]);

impl Version {
    /// The version of a text that has LF line endings and no BOM already.
    pub fn of(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// As 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        blake3::Hash::from(self.0).to_hex().to_string()
    }

    /// From 64 hexadecimal digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        blake3::Hash::from_hex(hex)
            .ok()
            .map(|hash| Self(*hash.as_bytes()))
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({})", &self.hex()[..8])
    }
}

/// blake3 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawHash([u8; 32]);

impl RawHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// As 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        blake3::Hash::from(self.0).to_hex().to_string()
    }

    /// From 64 hexadecimal digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        blake3::Hash::from_hex(hex)
            .ok()
            .map(|hash| Self(*hash.as_bytes()))
    }
}

impl fmt::Debug for RawHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawHash({})", &self.hex()[..8])
    }
}

//! The bodies of the fuzz targets, shared with the ordinary tests.

#![forbid(unsafe_code)]

pub mod hostile;

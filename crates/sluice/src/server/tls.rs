//! Reads the certificate and key that clients are met with.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use super::ServerError;
use crate::config::TlsFiles;

pub(crate) fn read(files: &TlsFiles) -> Result<Arc<rustls::ServerConfig>, ServerError> {
    let wrong = |path: &Path, reason: String| ServerError::Tls { path: path.to_owned(), reason };
    let open =
        |path: &Path| File::open(path).map(BufReader::new).map_err(|error| wrong(path, error.to_string()));
    let chain: Result<Vec<_>, _> = rustls_pemfile::certs(&mut open(&files.cert)?).collect();
    let chain = chain.map_err(|error| wrong(&files.cert, error.to_string()))?;
    if chain.is_empty() {
        return Err(wrong(&files.cert, "it holds no certificate".to_owned()));
    }
    let key = rustls_pemfile::private_key(&mut open(&files.key)?)
        .map_err(|error| wrong(&files.key, error.to_string()))?
        .ok_or_else(|| wrong(&files.key, "it holds no private key".to_owned()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&files.cert, error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| wrong(&files.cert, error.to_string()))?;
    Ok(Arc::new(config))
}

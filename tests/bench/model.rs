//! The floor of a turn: the same two requests over one raw connection, the same files read and
//! hashed, nothing else.
//!
//! It must never send bytes that Toolgate did not send: they are taken from what the server saw.

use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::net::TcpStream;
use std::path::PathBuf;

/// A connection to the model's server, with what a turn sends and reads.
pub struct Floor {
    input: BufReader<TcpStream>,
    output: TcpStream,
    requests: Vec<Vec<u8>>,
    files: Vec<PathBuf>,
}

impl Floor {
    /// Connects. `bodies` are the requests of one turn, `files` what is read after the first.
    pub fn connect(base_url: &str, bodies: &[String], files: Vec<PathBuf>) -> Result<Self> {
        let address = base_url.trim_start_matches("http://");
        let output = TcpStream::connect(address)?;
        output.set_nodelay(true)?;
        let request = |body: &String| {
            format!(
                "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\
                 \r\nanthropic-version: 2023-06-01\r\nx-api-key: bench-key\r\ncontent-length: {}\
                 \r\n\r\n{body}",
                body.len()
            )
            .into_bytes()
        };
        Ok(Self {
            input: BufReader::new(output.try_clone()?),
            output,
            requests: bodies.iter().map(request).collect(),
            files,
        })
    }

    /// One turn.
    pub fn turn(&mut self) -> Result<()> {
        for number in 0..self.requests.len() {
            self.output.write_all(&self.requests[number])?;
            self.answer()?;
            if number == 0 {
                for file in &self.files {
                    // The hash is the work; nothing else is done with it.
                    std::hint::black_box(blake3::hash(&std::fs::read(file)?));
                }
            }
        }
        Ok(())
    }

    /// Reads one chunked answer to its end.
    fn answer(&mut self) -> Result<()> {
        let mut line = String::new();
        self.input.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 200") {
            return Err(Error::other(format!("the server said {line}")));
        }
        while line != "\r\n" {
            line.clear();
            self.input.read_line(&mut line)?;
        }
        let mut chunk = Vec::new();
        loop {
            line.clear();
            self.input.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(Error::other)?;
            chunk.resize(size + 2, 0);
            self.input.read_exact(&mut chunk)?;
            if size == 0 {
                return Ok(());
            }
        }
    }
}

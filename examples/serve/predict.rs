// Answers the rows of standard input by a model file, in Rust, through the C functions of libslimbayes_serve:
//
//   rustc --edition 2021 predict.rs -L PREFIX/lib -l slimbayes_serve -C link-arg=-Wl,-rpath,PREFIX/lib
//   ./predict model.safetensors 0.9 < rows.txt
//
// A line holds the cells of a row, separated by commas without quotes. An empty cell is a missing one.
use std::ffi::{c_char, c_int, CStr, CString};
use std::io::BufRead;

#[repr(C)]
#[derive(Default)]
struct Answer {
    size: usize,
    mean: f64,
    sd: f64,
    sd_aleatoric: f64,
    sd_epistemic: f64,
    lower: f64,
    upper: f64,
}

#[repr(C)]
struct RawModel {
    _private: [u8; 0],
}

extern "C" {
    fn slimbayes_open(path: *const c_char) -> *mut RawModel;
    fn slimbayes_close(model: *mut RawModel);
    fn slimbayes_error() -> *const c_char;
    fn slimbayes_row_cells(model: *const RawModel) -> usize;
    fn slimbayes_row_numbers(model: *const RawModel) -> usize;
    fn slimbayes_predict_cells(model: *const RawModel, cells: *const *const c_char, count: usize, level: f64, out: *mut Answer) -> c_int;
}

fn last_error() -> String {
    unsafe { CStr::from_ptr(slimbayes_error()) }.to_string_lossy().into_owned()
}

/// A model file that answers rows. Threads may share it.
struct Model(*mut RawModel);

unsafe impl Send for Model {}
unsafe impl Sync for Model {}

impl Model {
    fn open(path: &str) -> Result<Self, String> {
        let path = CString::new(path).map_err(|error| error.to_string())?;
        let raw = unsafe { slimbayes_open(path.as_ptr()) };
        if raw.is_null() { Err(last_error()) } else { Ok(Model(raw)) }
    }

    /// Whether a row is a text, whose numbers are its tokens.
    fn is_of_texts(&self) -> bool {
        unsafe { slimbayes_row_numbers(self.0) != slimbayes_row_cells(self.0) }
    }

    fn predict(&self, cells: &[&str], level: f64) -> Result<Answer, String> {
        let expected = unsafe { slimbayes_row_cells(self.0) };
        if cells.len() != expected {
            return Err(format!("expected {expected} cells; received {}", cells.len()));
        }
        let texts: Vec<CString> = cells.iter().map(|cell| CString::new(*cell)).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let mut answer = Answer { size: std::mem::size_of::<Answer>(), ..Default::default() };
        match unsafe { slimbayes_predict_cells(self.0, pointers.as_ptr(), 1, level, &mut answer) } {
            0 => Ok(answer),
            _ => Err(last_error()),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { slimbayes_close(self.0) }
    }
}

fn answered() -> Result<(), String> {
    let words: Vec<String> = std::env::args().collect();
    let path = words.get(1).ok_or("expected a model file, and perhaps a level; received nothing")?;
    let level = words.get(2).map_or(Ok(0.95), |text| text.parse()).map_err(|_| "expected a level between 0 and 1")?;
    let model = Model::open(path)?;
    println!("mean,sd,lower,upper");
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let cells = if model.is_of_texts() { vec![line.as_str()] } else { line.split(',').collect() };
        let answer = model.predict(&cells, level)?;
        println!("{},{},{},{}", answer.mean, answer.sd, answer.lower, answer.upper);
    }
    Ok(())
}

fn main() {
    if let Err(error) = answered() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

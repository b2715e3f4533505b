//! A figure: pairs of a floor's and Toolgate's measure, and what they come to.
//!
//! It must never drop a pair: an outlier is part of the spread.

use std::fmt::Write as _;

use serde_json::{json, Value};

/// What was measured, pair by pair.
#[derive(Debug)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// Its number in the list of goals.
    pub number: &'static str,
    /// The unit of both measures.
    pub unit: &'static str,
    /// The goal, in words.
    pub goal: &'static str,
    /// What the floor is.
    pub floor: &'static str,
    /// (floor, Toolgate).
    pub pairs: Vec<(f64, f64)>,
}

/// The value at a share of a sorted list, between neighbours in proportion.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = share * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    values[low] + (values[high] - values[low]) * at.fract()
}

impl Figure {
    fn of(&self, measure: impl Fn(&(f64, f64)) -> f64, share: f64) -> f64 {
        let mut values: Vec<f64> = self.pairs.iter().map(measure).collect();
        quantile(&mut values, share)
    }

    fn floor_median(&self) -> f64 {
        self.of(|pair| pair.0, 0.5)
    }

    fn own_median(&self) -> f64 {
        self.of(|pair| pair.1, 0.5)
    }

    fn ratio(&self, share: f64) -> f64 {
        self.of(|pair| pair.1 / pair.0, share)
    }

    fn json(&self) -> Value {
        json!({
            "figure": self.name, "number": self.number, "unit": self.unit, "goal": self.goal,
            "floor": self.floor, "pairs": self.pairs.len(),
            "floorMedian": self.floor_median(), "toolgateMedian": self.own_median(),
            "ratio": {"median": self.ratio(0.5), "q1": self.ratio(0.25), "q3": self.ratio(0.75)},
        })
    }
}

/// All figures, for people.
pub fn table(figures: &[Figure]) -> String {
    let mut text = format!(
        "{:<4} {:<38} {:>12} {:>12} {:>8} {:>15} {:>5}  {}\n",
        "no", "figure", "floor", "toolgate", "ratio", "quartiles", "pairs", "goal"
    );
    for figure in figures {
        let spread = format!("{:.2} .. {:.2}", figure.ratio(0.25), figure.ratio(0.75));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:<4} {:<38} {:>9.2} {:<2} {:>9.2} {:<2} {:>8.2} {:>15} {:>5}  {}",
            figure.number,
            figure.name,
            figure.floor_median(),
            figure.unit,
            figure.own_median(),
            figure.unit,
            figure.ratio(0.5),
            spread,
            figure.pairs.len(),
            figure.goal
        );
    }
    for figure in figures {
        let _ = writeln!(text, "floor of \"{}\": {}", figure.name, figure.floor);
    }
    text
}

/// All figures, for programs: one line.
pub fn json(figures: &[Figure]) -> Value {
    Value::from(figures.iter().map(Figure::json).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let mut values = [3.0, 1.0, 2.0, 4.0];
        assert_eq!(quantile(&mut values, 0.5), 2.5);
        assert_eq!(quantile(&mut values, 0.0), 1.0);
        assert_eq!(quantile(&mut values, 1.0), 4.0);
    }

    #[test]
    fn a_ratio_is_that_of_its_own_pair() {
        let figure = Figure {
            name: "n",
            number: "P0",
            unit: "ms",
            goal: "1",
            floor: "f",
            pairs: vec![(1.0, 2.0), (10.0, 30.0), (100.0, 400.0)],
        };
        assert_eq!(figure.json()["ratio"]["median"], 3.0);
    }
}

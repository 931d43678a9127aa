//! Down or to the right: whichever comes closer to a screen's shape.

use super::geometry::Size;

/// Which way the edges lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Top to bottom.
    Down,
    /// Left to right.
    Right,
}

/// The shape aimed for.
pub(crate) const ASPECT: f64 = 16.0 / 9.0;

/// Down is what people expect of a graph; right has to be clearly better to be chosen.
const PREFERENCE_FOR_DOWN: f64 = 0.15;

/// Space between neighbours: across the flow, and along it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gaps {
    pub(crate) across: f64,
    pub(crate) along: f64,
}

impl Direction {
    /// Chooses from estimates, because laying out twice would double the cost of a slow step.
    pub(crate) fn choose(ranks: &[usize], sizes: &[Size]) -> Self {
        let distance = |direction: Self| {
            let size = direction.estimate(ranks, sizes);
            distance_from_ideal(size)
        };
        if distance(Self::Right) + PREFERENCE_FOR_DOWN < distance(Self::Down) { Self::Right } else { Self::Down }
    }

    /// The page a layered layout will need, roughly.
    pub(crate) fn estimate(self, ranks: &[usize], sizes: &[Size]) -> Size {
        let gaps = self.gaps();
        let levels = ranks.iter().max().map_or(0, |deepest| deepest + 1);
        let mut along = vec![0.0_f64; levels];
        let mut across = vec![0.0_f64; levels];
        for (&rank, size) in ranks.iter().zip(sizes) {
            let (deep, broad) = match self {
                Self::Down => (size.height, size.width),
                Self::Right => (size.width, size.height),
            };
            along[rank] = along[rank].max(deep + gaps.along);
            across[rank] += broad + gaps.across;
        }
        let along: f64 = along.iter().sum();
        let across = across.iter().copied().fold(0.0, f64::max);
        match self {
            Self::Down => Size { width: across, height: along },
            Self::Right => Size { width: along, height: across },
        }
    }

    pub(crate) const fn gaps(self) -> Gaps {
        match self {
            Self::Down => Gaps { across: 28.0, along: 58.0 },
            Self::Right => Gaps { across: 16.0, along: 60.0 },
        }
    }
}

/// 0 for the ideal shape; twice as wide and twice as tall are equally far from it.
pub(crate) fn distance_from_ideal(size: Size) -> f64 {
    let aspect = size.width.max(1.0) / size.height.max(1.0);
    (aspect / ASPECT).ln().abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Size = Size { width: 170.0, height: 48.0 };

    #[test]
    fn a_wide_fan_flows_right_so_that_it_stacks() {
        let mut ranks = vec![1; 20];
        ranks.extend([0, 2]);
        assert_eq!(Direction::choose(&ranks, &[BOX; 22]), Direction::Right);
    }

    #[test]
    fn a_small_workflow_flows_down() {
        assert_eq!(Direction::choose(&[0, 1, 1, 2, 3], &[BOX; 5]), Direction::Down);
        assert_eq!(Direction::choose(&[], &[]), Direction::Down);
    }

    #[test]
    fn deep_and_half_as_wide_flows_right() {
        let ranks: Vec<usize> = (0..60).map(|node| node / 6).collect();
        assert_eq!(Direction::choose(&ranks, &[BOX; 60]), Direction::Down);
        let ranks: Vec<usize> = (0..60).map(|node| node / 10).collect();
        assert_eq!(Direction::choose(&ranks, &[BOX; 60]), Direction::Right);
    }
}

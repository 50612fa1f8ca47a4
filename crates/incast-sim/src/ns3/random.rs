//! Random numbers of ECN marks in ns-3.
//!
//! Each draw is the first value of its own MRG32k3a stream (`switch-mmu.cc`, ShouldSendCN): draw n is the generator advanced by
//! n·2^127 + 2^76 steps (L'Ecuyer et al., Operations Research 50(6), 2002: streams and substreams).

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;

type Vector = [u64; 3];
type Matrix = [Vector; 3];

const A1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
const A2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];

fn apply(a: &Matrix, v: Vector, m: u64) -> Vector {
    std::array::from_fn(|row| (0..3).fold(0, |sum, k| (sum + a[row][k] * v[k] % m) % m))
}

fn multiply(a: &Matrix, b: &Matrix, m: u64) -> Matrix {
    std::array::from_fn(|row| std::array::from_fn(|col| (0..3).fold(0, |sum, k| (sum + a[row][k] * b[k][col] % m) % m)))
}

/// `a` to the 2^`exponent`.
fn square(mut a: Matrix, exponent: u32, m: u64) -> Matrix {
    for _ in 0..exponent {
        a = multiply(&a, &a, m);
    }
    a
}

/// `a`^`n` applied to `v`.
fn advance(mut a: Matrix, mut n: u64, mut v: Vector, m: u64) -> Vector {
    while n > 0 {
        if n & 1 == 1 {
            v = apply(&a, v, m);
        }
        a = multiply(&a, &a, m);
        n >>= 1;
    }
    v
}

#[derive(Debug, Clone)]
pub(crate) struct Draws {
    x: Vector,
    y: Vector,
    jump_x: Matrix,
    jump_y: Matrix,
}

impl Draws {
    /// Streams per node: 6 for the IP stack, 2 for error models.
    pub(crate) fn new(nodes: u64) -> Self {
        let (jump_x, jump_y) = (square(A1, 127, M1), square(A2, 127, M2));
        let start = |a, jump, m| advance(jump, 6 * nodes + 2, apply(&square(a, 76, m), [1; 3], m), m);
        Self { x: start(A1, jump_x, M1), y: start(A2, jump_y, M2), jump_x, jump_y }
    }

    /// In (0, 1).
    pub(crate) fn next(&mut self) -> f64 {
        let x = apply(&A1, self.x, M1)[2];
        let y = apply(&A2, self.y, M2)[2];
        self.skip();
        let difference = if x > y { x - y } else { x + M1 - y };
        difference as f64 / (M1 + 1) as f64
    }

    /// A PFC frame takes a draw for its IP identification.
    pub(crate) fn skip(&mut self) {
        self.x = apply(&self.jump_x, self.x, M1);
        self.y = apply(&self.jump_y, self.y, M2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_draws_of_known_runs() {
        // Authors' simulator with 4, 10, 18 and 144 nodes.
        for (nodes, value) in
            [(4, 0.698_337_424_372_8), (10, 0.912_957_794_241_4), (18, 0.208_339_315_684_2), (144, 0.503_653_342_546_8)]
        {
            assert!((Draws::new(nodes).next() - value).abs() < 1e-12, "{nodes} nodes");
        }
        let mut draws = Draws::new(4);
        draws.skip();
        assert!((draws.next() - 0.910_617_889_698_7).abs() < 1e-12);
    }
}

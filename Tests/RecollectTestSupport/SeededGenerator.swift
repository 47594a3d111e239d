/// SplitMix64: random numbers that a seed reproduces.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator whose numbers are determined by the seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Returns a size up to a maximum, small ones more often: they are cheaper, and most errors also occur in small
    /// cases.
    public mutating func size(upTo greatest: Int) -> Int {
        min(Int.random(in: 0...greatest, using: &self), Int.random(in: 0...greatest, using: &self))
    }
}

/// SplitMix64: random numbers that come again from their seed.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Makes a generator whose numbers the seed decides.
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

    /// A size up to a greatest one, a small one more often: what goes wrong mostly shows in small cases, and they cost less.
    public mutating func size(upTo greatest: Int) -> Int {
        min(Int.random(in: 0...greatest, using: &self), Int.random(in: 0...greatest, using: &self))
    }
}

/// The numbers in SQLite's file format.
extension [UInt8] {
    func bigEndian16(_ offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

    func bigEndian32(_ offset: Int) -> UInt32 {
        UInt32(bigEndian16(offset)) << 16 | UInt32(bigEndian16(offset + 2))
    }
}

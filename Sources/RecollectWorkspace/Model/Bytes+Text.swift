extension [UInt8] {
    /// Whether the bytes are text: UTF-8 without NUL.
    var isText: Bool {
        // `String(validating:as:)` needs iOS 18.
        !contains(0) && String(decoding: self, as: UTF8.self).utf8.elementsEqual(self)
    }
}

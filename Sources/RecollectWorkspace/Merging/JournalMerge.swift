enum JournalMerge {
    static func merged(base: [UInt8]?, versions: [[UInt8]]) -> [UInt8]? { nil }
}

/// The subjects of typical messages to assistants. They connect a message about a parcel with the description of a
/// delivery agent, without a shared word.
enum Subjects {
    /// Returns the numbers of a word's subjects; none for most words.
    static func of(_ keyword: Keyword) -> [Int] {
        byStem[keyword.stem] ?? []
    }

    private static let byStem: [String: [Int]] = {
        let lines =
            SubjectWords.trade + SubjectWords.money + SubjectWords.office + SubjectWords.home + SubjectWords.health
            + SubjectWords.travel + SubjectWords.learning + SubjectWords.leisure
        var subjects: [String: [Int]] = [:]
        for (index, line) in lines.enumerated() {
            for keyword in Keyword.keywords(of: Words(line).words) {
                subjects[keyword.stem, default: []].append(index)
            }
        }
        return subjects
    }()
}

/// What people talk about with assistants: a message about a parcel shares no word with the description of an agent for deliveries, and
/// is for that agent all the same.
enum Subjects {
    /// The numbers of the subjects that a word belongs to; none for most words.
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

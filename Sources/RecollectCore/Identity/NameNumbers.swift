/// Numbers equal names: the second `entry` becomes `entry-2`, and the third `entry-3`.
package struct NameNumbers {
    private var last: [String: Int] = [:]

    package init() {}

    /// Returns the name, or for a repeated one, the name with the next number. Results taken otherwise are skipped.
    package mutating func next(_ name: String, isTaken: (String) -> Bool) -> String {
        var result: String
        repeat {
            let number = last[name, default: 0] + 1
            last[name] = number
            result = number == 1 ? name : "\(name)-\(number)"
        } while isTaken(result)
        return result
    }
}

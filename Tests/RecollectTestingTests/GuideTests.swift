import Foundation
import RecollectTesting
import Testing

@Suite("Guides")
struct GuideTests {
    @Test(
        "The guide contains every compiled sample verbatim",
        arguments: try FileManager.default.contentsOfDirectory(
            at: here.appendingPathComponent("Guides"), includingPropertiesForKeys: nil))
    func samplesAreInTheGuide(_ sample: URL) throws {
        let guide = try text("Sources/RecollectTesting/RecollectTesting.docc/Write-a-store.md")
        let code = try String(contentsOf: sample, encoding: .utf8)
        #expect(guide.contains("```swift\n\(code)```\n"), "\(sample.lastPathComponent)")
    }

    @Test("The guide to the rules lists exactly the existing checks, each under its rule")
    func checksAreInTheRules() throws {
        let guide = try text("Sources/RecollectCore/RecollectCore.docc/Rules-of-a-history.md")
        var named: [Int?: Set<String>] = [:]
        for section in guide.components(separatedBy: "\n## ").dropFirst(2) {
            let rule = Int(section.prefix { $0.isNumber })
            #expect(named[rule] == nil, "rule \(rule.map(String.init) ?? "none") has one section")
            named[rule] = Set(section.matches(of: #/`([a-zA-Z]{3,}\.[a-zA-Z]{3,})`/#).map { String($0.1) })
        }
        let checks =
            ChatStorageConformance.checks.map { ($0.rule, $0.name) }
            + HistoryStoreConformance.checks.map { ($0.rule, $0.name) }
            + SessionStorageConformance.checks.map { ($0.rule, $0.name) }
        #expect(Set(named.keys) == Set((1...12).map(Optional.some) + [nil]))
        for rule in named.keys {
            let expected = Set(checks.filter { $0.0 == rule }.map(\.1))
            #expect(named[rule] == expected, "rule \(rule.map(String.init) ?? "none")")
        }
    }

    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        let root = Self.here.deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}

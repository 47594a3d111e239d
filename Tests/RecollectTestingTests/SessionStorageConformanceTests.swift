import RecollectCore
import RecollectTesting
import RecollectTestSupport
import Testing

@Suite("Session storage conformance suite")
struct SessionStorageConformanceTests {
    @Test("A correct storage passes every check", arguments: SessionStorageConformance.checks)
    func passesACorrectStorage(_ check: SessionStorageCheck) async throws {
        let outcome = try await check.run(on: FaultySessionStorage.fixture(nil))
        guard case .passed = outcome else {
            Issue.record("\(check) was not run")
            return
        }
    }

    @Test("Every check has a faulty storage, and every faulty storage has a check")
    func everyCheckCanFail() {
        expectEveryCheckCanFail(SessionFault.self, of: SessionStorageConformance.checks)
    }

    @Test(
        "A faulty storage fails the check of its fault and passes most others", .needs(.time),
        arguments: SessionFault.allCases)
    func catchesEveryFault(_ fault: SessionFault) async throws {
        try await expectCaught(fault, by: SessionStorageConformance.checks, on: FaultySessionStorage.fixture(fault))
    }

    @Test("A report lists every check in one table")
    func reports() async {
        let report = await SessionStorageConformance.report(includingLong: false) { FaultySessionStorage(nil) }
        #expect(report.isConforming, "\(report)")
        #expect(report.lines.map(\.check) == SessionStorageConformance.checks.map(\.name))
        #expect(report.description.contains(#/reopened\.keepsEverything +not declared: persistent/#))
        #expect(report.description.contains(#/transcript\.largeTranscripts +skipped: long/#))
    }

    @Test("Check names are unique and have two parts, and every promise is one line")
    func namesAreStable() throws {
        let checks = SessionStorageConformance.checks
        #expect(Set(checks.map(\.name)).count == checks.count)
        #expect(Set(checks.map(\.name)).isDisjoint(with: ChatStorageConformance.checks.map(\.name)))
        #expect(Set(checks.map(\.name)).isDisjoint(with: HistoryStoreConformance.checks.map(\.name)))
        for check in checks {
            #expect(try #/^[a-z][a-zA-Z]+\.[a-z][a-zA-Z]+$/#.wholeMatch(in: check.name) != nil, "\(check)")
            #expect(check.rule.map { (1...10).contains($0) } ?? true, "\(check)")
            #expect(check.promise.hasSuffix("."), "\(check)")
            #expect(!check.promise.contains("\n"), "\(check)")
        }
    }
}

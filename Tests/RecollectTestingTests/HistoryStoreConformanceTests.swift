import Recollect
import RecollectTestSupport
import RecollectTesting
import Testing

@Suite("History conformance suite")
struct HistoryStoreConformanceTests {
    @Test(
        "A correct history passes every check", .needs(.time),
        arguments: HistoryStoreConformance.checks)
    func passesACorrectStore(_ check: HistoryStoreCheck) async throws {
        let outcome = try await check.run(on: FaultyHistoryStore.fixture(nil))
        guard case .passed = outcome else {
            Issue.record("\(check) was not run")
            return
        }
    }

    @Test("Every check has a faulty history, and every faulty history has a check")
    func everyCheckCanFail() {
        expectEveryCheckCanFail(HistoryFault.self, of: HistoryStoreConformance.checks)
    }

    @Test(
        "A faulty history fails the check of its fault and passes most others",
        .needs(.time), arguments: HistoryFault.allCases)
    func catchesEveryFault(_ fault: HistoryFault) async throws {
        try await expectCaught(fault, by: HistoryStoreConformance.checks, on: FaultyHistoryStore.fixture(fault))
    }

    @Test("A report lists every check in one table", .needs(.time))
    func reports() async {
        let report = await HistoryStoreConformance.report {
            SQLiteHistoryStore.inMemory()
        }
        #expect(report.isConforming, "\(report)")
        #expect(report.lines.map(\.check) == HistoryStoreConformance.checks.map(\.name))
        #expect(report.description.contains(#/reopening\.keepsChangeFeed +not declared: persistent/#))
    }

    @Test("Check names are unique and have two parts, and every promise ends with a period")
    func namesAreStable() throws {
        let checks = HistoryStoreConformance.checks
        #expect(Set(checks.map(\.name)).count == checks.count)
        #expect(Set(checks.map(\.name)).isDisjoint(with: ChatStorageConformance.checks.map(\.name)))
        for check in checks {
            #expect(try #/^[a-z][a-zA-Z]+\.[a-z][a-zA-Z]+$/#.wholeMatch(in: check.name) != nil, "\(check)")
            #expect(check.rule.map { (1...10).contains($0) } ?? true, "\(check)")
            #expect(check.promise.hasSuffix("."), "\(check)")
        }
    }
}

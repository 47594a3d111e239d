import Recollect
import RecollectTestSupport
import RecollectTesting
import Testing

@Suite("The history suite")
struct HistoryStoreConformanceTests {
    @Test(
        "passes a history that keeps every promise, wrapped or not", .needs(.time),
        arguments: HistoryStoreConformance.checks)
    func passesACorrectStore(_ check: HistoryStoreCheck) async throws {
        let outcome = try await check.run(on: FaultyHistoryStore.fixture(nil))
        guard case .passed = outcome else {
            Issue.record("\(check) was not run")
            return
        }
    }

    @Test("has a broken history for every check, and a check for every broken history")
    func everyCheckCanFail() {
        expectEveryCheckCanFail(HistoryFault.self, of: HistoryStoreConformance.checks)
    }

    @Test(
        "catches a broken history by the check that names its fault, while most others pass",
        .needs(.time), arguments: HistoryFault.allCases)
    func catchesEveryFault(_ fault: HistoryFault) async throws {
        try await expectCaught(fault, by: HistoryStoreConformance.checks, on: FaultyHistoryStore.fixture(fault))
    }

    @Test("reports every check of a history in one table", .needs(.time))
    func reports() async {
        let report = await HistoryStoreConformance.report {
            SQLiteHistoryStore.inMemory()
        }
        #expect(report.isConforming, "\(report)")
        #expect(report.lines.map(\.check) == HistoryStoreConformance.checks.map(\.name))
        #expect(report.description.contains(#/reopening\.keepsTheFeed +not declared: persistent/#))
    }

    @Test("has unique names of a subject and a promise, and says every promise in a line")
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

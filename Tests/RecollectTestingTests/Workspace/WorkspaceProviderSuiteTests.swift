import RecollectCore
import RecollectTesting
import RecollectTestSupport
import Testing

@Suite("Workspace provider conformance suite")
struct WorkspaceProviderSuiteTests {
    @Test("A correct provider passes every check", arguments: WorkspaceProviderSuite.checks)
    func passesACorrectProvider(_ check: WorkspaceProviderCheck) async throws {
        let outcome = try await check.run(on: FaultyProvider.fixture(nil))
        guard case .passed = outcome else {
            Issue.record("\(check) was not run")
            return
        }
    }

    @Test("Every check has a faulty provider, and every faulty provider has a check")
    func everyCheckCanFail() {
        expectEveryCheckCanFail(WorkspaceFault.self, of: WorkspaceProviderSuite.checks)
    }

    @Test(
        "A faulty provider fails the check of its fault and passes most others", .needs(.time),
        arguments: WorkspaceFault.allCases)
    func catchesEveryFault(_ fault: WorkspaceFault) async throws {
        try await expectCaught(fault, by: WorkspaceProviderSuite.checks, on: FaultyProvider.fixture(fault))
    }

    @Test("A report lists undeclared capabilities by name")
    func reports() async {
        let fixture = StoreFixture<WorkspaceProviderFixture>.simulatedCloud(.syncthing)
        let report = await WorkspaceProviderSuite.report(on: fixture)
        #expect(report.isConforming, "\(report)")
        let cloud = SimulatedCloud(seed: 1)
        let plain = await WorkspaceProviderSuite.report(
            on: StoreFixture {
                let device = cloud.device("\(cloud.log(last: 0).count)")
                return WorkspaceProviderFixture(provider: device.provider, put: { device.edit($0, $1) })
            })
        #expect(plain.description.contains(#/evicted\.isListed +not declared: evicts/#))
        #expect(plain.description.contains(#/root\.missingIsUnavailable +not declared: losesRoot/#))
    }

    @Test("Check names are unique and have two parts, and every promise is one line")
    func namesAreStable() throws {
        let checks = WorkspaceProviderSuite.checks
        #expect(Set(checks.map(\.name)).count == checks.count)
        for check in checks {
            #expect(try #/^[a-z][a-zA-Z]+\.[a-z][a-zA-Z]+$/#.wholeMatch(in: check.name) != nil, "\(check)")
            #expect(check.promise.hasSuffix(".") && !check.promise.contains("\n"), "\(check)")
        }
    }
}

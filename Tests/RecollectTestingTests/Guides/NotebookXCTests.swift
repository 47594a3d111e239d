import RecollectTesting
import XCTest

final class NotebookXCTests: XCTestCase {
    func testConforms() async throws {
        let report = await ChatStorageConformance.report { NotebookChatStorage() }
        XCTAssertTrue(report.isConforming, report.description)
    }
}

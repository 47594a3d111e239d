// swift-tools-version: 6.2
import PackageDescription

// The samples of the custom session storage guide, as they stand there: a package of its own, as an app would be.
let package = Package(
    name: "SessionStorageGuide",
    platforms: [.iOS(.v17), .macOS(.v14)],
    dependencies: [.package(name: "recollect", path: "../..")],
    targets: [
        .target(
            name: "SessionStorageGuide", dependencies: [.product(name: "ClaudeCodeCore", package: "recollect")]),
        .testTarget(
            name: "SessionStorageGuideTests",
            dependencies: ["SessionStorageGuide", .product(name: "RecollectTesting", package: "recollect")]),
    ],
    swiftLanguageModes: [.v6]
)

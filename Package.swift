// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "recollect",
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [
        .library(name: "Recollect", targets: ["Recollect"]),
        .library(name: "RecollectCore", targets: ["RecollectCore"]),
        .library(name: "RecollectSQLite", targets: ["RecollectSQLite"]),
        .library(name: "RecollectObservation", targets: ["RecollectObservation"]),
        .library(name: "RecollectTranscripts", targets: ["RecollectTranscripts"]),
        .library(name: "RecollectTesting", targets: ["RecollectTesting"]),
        .library(name: "AgentSquad", targets: ["AgentSquad"]),
        .library(name: "ClaudeCodeCore", targets: ["ClaudeCodeCore"]),
        .executable(name: "recall", targets: ["RecollectCLI"]),
    ],
    traits: [
        .trait(
            name: "CommandLine",
            description: "Builds the command `recall`, and with it resolves swift-argument-parser.")
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .target(
            name: "RecollectCore",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .target(
            name: "RecollectSQLite",
            dependencies: [
                "RecollectCore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(name: "Recollect", dependencies: ["RecollectCore", "RecollectSQLite"]),
        .target(name: "RecollectObservation", dependencies: ["RecollectCore"]),
        .target(name: "RecollectTranscripts", dependencies: ["RecollectCore"]),
        .target(name: "RecollectTesting", dependencies: ["RecollectCore"]),
        .target(name: "AgentSquad", dependencies: ["Recollect"]),
        .target(name: "ClaudeCodeCore", dependencies: ["Recollect"]),
        .executableTarget(
            name: "RecollectCLI",
            dependencies: [
                "Recollect",
                "RecollectTranscripts",
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLine"])),
            ]),
        .executableTarget(
            name: "RecollectTestWorker", dependencies: ["RecollectCore", "RecollectSQLite"],
            path: "Tests/RecollectTestWorker"),
        .target(name: "RecollectTestSupport", path: "Tests/RecollectTestSupport"),
        .testTarget(
            name: "RecollectCoreTests",
            dependencies: [
                "RecollectCore", "RecollectTestSupport", "RecollectTestWorker",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "RecollectSQLiteTests",
            dependencies: [
                "RecollectSQLite", "RecollectTestSupport", "RecollectTestWorker",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.copy("Fixtures")]),
        .testTarget(name: "RecollectTests", dependencies: ["Recollect"]),
        .testTarget(name: "ClaudeCodeCoreTests", dependencies: ["ClaudeCodeCore"]),
        .testTarget(
            name: "RecollectTestingTests",
            dependencies: ["Recollect", "RecollectTesting", .product(name: "Logging", package: "swift-log")]),
        .testTarget(
            name: "RecollectObservationTests",
            dependencies: ["RecollectObservation", "RecollectSQLite", "RecollectTestSupport", "RecollectTestWorker"]),
        .testTarget(
            name: "RecollectTranscriptsTests",
            dependencies: ["RecollectTranscripts", "RecollectSQLite"],
            resources: [.copy("Fixtures")]),
        .testTarget(name: "RecollectCLITests", dependencies: ["RecollectCLI", "RecollectCore", "RecollectSQLite"]),
    ],
    swiftLanguageModes: [.v6]
)

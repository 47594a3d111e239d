// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "recollect-benchmarks",
    platforms: [.macOS(.v14)],
    traits: [
        .trait(name: "Postgres", description: "Measures `RecollectPostgres`, and links libpq.")
    ],
    dependencies: [
        .package(
            name: "recollect", path: "..",
            traits: [.trait(name: "Postgres", condition: .when(traits: ["Postgres"]))]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "RecollectBenchmarks",
            dependencies: [
                .product(name: "Recollect", package: "recollect"),
                .product(name: "RecollectPostgres", package: "recollect"),
                .product(name: "RecollectTesting", package: "recollect"),
                .product(name: "RecollectTranscripts", package: "recollect"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ])
    ],
    swiftLanguageModes: [.v6]
)

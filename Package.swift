// swift-tools-version: 6.2
import PackageDescription

// A program that depends on these libraries gets ordinary release code: flags are for this package's own build,
// which runs in its folder.
let isRoot = Context.environment["PWD"] == Context.packageDirectory

// Half of a release build was the optimiser's work on modules in which SQLite does the work, or that
// work once for a model or a command. What runs once a row, a byte or a cell of the screen is in others.
// Their module comes out of the same run of the compiler, which would read all sources once more for it.
let unoptimized: [SwiftSetting] =
  isRoot
  ? [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))]
  : []
// The optimiser goes over every function three to four times. One round takes a third of the time, and what it makes
// was at most a tenth slower when it was measured. The file names its passes as this version of the compiler does: one
// that does not know a name crashes, so that other versions do all of their own.
#if os(Linux) && compiler(>=6.3) && !compiler(>=6.4)
  let once = [
    "-Xfrontend", "-external-pass-pipeline-filename", "-Xfrontend",
    Context.packageDirectory + "/.optimizer.yaml",
  ]
#else
  let once: [String] = []
#endif
// Small code is compiled sooner.
let small: [SwiftSetting] =
  isRoot ? [.unsafeFlags(["-Osize"] + once, .when(configuration: .release))] : []
// The same for speed instead of size, for what runs once a byte or a row. What has no setting of its own runs more
// often still, once a cell of the screen or a value, and is small.
let fast: [SwiftSetting] =
  isRoot && !once.isEmpty ? [.unsafeFlags(once, .when(configuration: .release))] : []
// A program that carries Swift in it starts in two thirds of the time: ten libraries less to load.
// Tests are not: they share Swift with the libraries for testing.
let selfContained: [LinkerSetting] = [
  // Without the symbols that only a debugger asks for it has less than half the size.
  .unsafeFlags(
    ["-static-stdlib", "-Xlinker", "-s"], .when(platforms: [.linux], configuration: .release))
]

// Folders and arrows: a target may import only what is listed here, so a wrong arrow is a compile
// error. Nothing below Front knows that a terminal exists.
//
// SwiftPM begins with the last name of those that can be compiled: what nobody waits for has an early one
// (ExampleValues, ExportText), and is compiled when a processor is free.
let package = Package(
  name: "strata",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "strata", targets: ["strata"]),
    .library(name: "ManagedModel", targets: ["ManagedModel", "ModelWriting"]),
    .library(
      name: "ManagedStore", targets: ["ManagedStore", "StoreTables", "ModelSearch", "SwiftModels"]),
    .library(name: "Migration", targets: ["Migration", "Mapping"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", path: "Sources/Formats/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CNcurses", path: "Sources/Front/CNcurses", providers: [.apt(["libncurses-dev"])]),
    .systemLibrary(name: "CZlib", path: "Sources/Formats/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CExpat", path: "Sources/Formats/CExpat", providers: [.apt(["libexpat1-dev"])]),
    // For Linux: macOS has CommonCrypto.
    .systemLibrary(
      name: "CCrypto", path: "Sources/Formats/CCrypto", providers: [.apt(["libssl-dev"])]),
    // Declarations alone: libpng and TurboJPEG are opened when the program runs.
    .systemLibrary(name: "CPictures", path: "Sources/Front/CPictures"),

    // The files that are in the program: tables of sentences, articles of help, themes.
    .target(name: "CTexts", path: "Sources/Work/CTexts"),
    .target(
      name: "Texts", dependencies: ["CTexts"], path: "Sources/Work/Texts", exclude: ["Tables"],
      swiftSettings: unoptimized),
    .target(name: "JSON", path: "Sources/Formats/JSON"),
    .target(name: "SQLite", dependencies: ["CSQLite", "Values"], path: "Sources/Formats/SQLite"),
    .target(
      name: "Values",
      dependencies: [
        "JSON", "CExpat", .target(name: "CCrypto", condition: .when(platforms: [.linux])),
      ],
      path: "Sources/Formats/Values", swiftSettings: fast,
      // Rounding of Double is in libm, which a program without Foundation does not link.
      linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
    .target(
      name: "ManagedModel", dependencies: ["Values"],
      path: "Sources/Formats/ManagedModel", swiftSettings: small),
    .target(
      name: "ModelWriting", dependencies: ["ManagedModel", "JSON"],
      path: "Sources/Formats/ModelWriting", swiftSettings: unoptimized),
    .target(
      name: "Files", dependencies: ["Values"], path: "Sources/Stores/Files", swiftSettings: fast),
    .target(
      name: "Salvage", dependencies: ["Files", "Values"], path: "Sources/Stores/Salvage",
      swiftSettings: fast),
    // Which tables, columns, indexes and triggers a model has in a store, and expressions as SQL over them. No store
    // is opened, so that it is compiled beside what reads pages.
    .target(
      name: "StoreTables", dependencies: ["SQLite", "ManagedModel", "Files", "CZlib"],
      path: "Sources/Stores/StoreTables", swiftSettings: small),
    .target(
      name: "ManagedStore",
      dependencies: [
        "StoreTables", "SQLite", "Salvage", "ManagedModel", "ModelWriting", "Files", "JSON",
      ],
      path: "Sources/Stores/ManagedStore",
      swiftSettings: small),
    // What stores come in: folders, apps' data, backups, archives.
    .target(
      name: "Containers",
      dependencies: [
        "ManagedStore", "ManagedModel", "Salvage", "SQLite", "Files", "CZlib",
        .target(name: "CCrypto", condition: .when(platforms: [.linux])),
      ],
      path: "Sources/Stores/Containers",
      swiftSettings: unoptimized),
    // XML and binary stores, which are read as private stores of the SQLite type.
    .target(
      name: "AtomicStores",
      dependencies: ["ManagedStore", "ManagedModel", "ModelWriting", "SQLite", "Files"],
      path: "Sources/Stores/AtomicStores", swiftSettings: small),
    // Models out of the Swift source of SwiftData apps: it looks at every byte of that.
    .target(
      name: "SwiftModels", dependencies: ["ManagedModel", "Values"],
      path: "Sources/Formats/SwiftModels", swiftSettings: small),
    .target(
      name: "ModelSearch",
      dependencies: ["ManagedStore", "SwiftModels", "ManagedModel", "ModelWriting", "Files"],
      path: "Sources/Stores/ModelSearch",
      swiftSettings: unoptimized),
    // What becomes of each entity between two models: inferred, of a mapping model, or of a recipe. No store is
    // asked, so that it is compiled beside what reads them.
    .target(
      name: "Mapping",
      dependencies: ["ManagedModel", "ModelWriting", "SQLite", "Files", "JSON"],
      path: "Sources/Work/Mapping",
      swiftSettings: small),
    .target(
      name: "Migration",
      dependencies: [
        "Mapping", "ModelSearch", "ManagedStore", "ManagedModel", "ModelWriting", "Salvage",
        "SQLite", "Files",
        "JSON", "Texts",
      ],
      path: "Sources/Work/Migration",
      swiftSettings: unoptimized),

    // What differs between two stores, object by object.
    .target(
      name: "Comparison",
      dependencies: ["Migration", "ManagedStore", "ManagedModel", "Salvage", "SQLite", "Files"],
      path: "Sources/Work/Comparison",
      swiftSettings: unoptimized),

    // What other programs save in a store, save by save.
    .target(
      name: "Watching",
      dependencies: ["Comparison", "ManagedStore", "Salvage", "SQLite", "Files"],
      path: "Sources/Work/Watching",
      swiftSettings: small),

    // What is wrong with a store, and what can be done about it.
    .target(
      name: "Rescue",
      dependencies: [
        "Salvage", "Migration", "ModelSearch", "ManagedStore", "ManagedModel", "ModelWriting",
        "SQLite", "Files", "Texts",
      ],
      path: "Sources/Work/Rescue",
      swiftSettings: unoptimized),

    // Other values for those of a person: it looks at every byte of them.
    .target(
      name: "DataMasking", dependencies: ["StoreTables", "ManagedModel", "SQLite", "CZlib"],
      path: "Sources/Work/DataMasking", swiftSettings: fast),
    // A copy of a store with such values, to be sent to a developer.
    .target(
      name: "Anonymizing",
      dependencies: [
        "DataMasking", "Migration", "ManagedStore", "ManagedModel", "SQLite", "Files",
      ],
      path: "Sources/Work/Anonymizing", swiftSettings: small),

    // One store of two that hold the same objects.
    .target(
      name: "Merging",
      dependencies: [
        "Comparison", "Rescue", "Migration", "ManagedStore", "ManagedModel", "SQLite", "Files",
      ],
      path: "Sources/Work/Merging", swiftSettings: unoptimized),

    // Changes of objects, prepared, checked by the model's rules and put in place as a migration is.
    .target(
      name: "Editing",
      dependencies: [
        "Comparison", "Migration", "ManagedStore", "ManagedModel", "SQLite", "Files", "JSON",
      ],
      path: "Sources/Work/Editing",
      swiftSettings: unoptimized),

    // What is known to go wrong with a change of a model, found before it ships.
    .target(
      name: "Lint",
      dependencies: [
        "Migration", "ModelSearch", "SwiftModels", "ManagedStore", "ManagedModel", "ModelWriting",
        "Files", "JSON", "Texts",
      ],
      path: "Sources/Work/Lint",
      swiftSettings: unoptimized),

    // What came of a piece of work, as lines that commands print and screens draw.
    .target(
      name: "Reports",
      dependencies: [
        "Terminal", "Merging", "Comparison", "Rescue", "Lint", "Editing", "Migration",
        "ManagedStore", "ManagedModel", "ModelWriting",
      ],
      path: "Sources/Front/Reports",
      swiftSettings: unoptimized),

    // Values that could be an app's: texts, numbers, dates, bytes.
    .target(
      name: "ExampleValues", dependencies: ["StoreTables", "ManagedModel", "ModelWriting"],
      path: "Sources/Work/ExampleValues", swiftSettings: small),
    // New stores of any model, filled with objects of such values.
    .target(
      name: "Seeding",
      dependencies: ["ExampleValues", "ManagedStore", "ManagedModel", "SQLite"],
      path: "Sources/Work/Seeding",
      swiftSettings: small),
    // What demo stores and their models hold.
    .target(
      name: "Demo",
      dependencies: ["Seeding", "ExampleValues", "ManagedStore", "ManagedModel", "ModelWriting"],
      path: "Sources/Work/Demo", swiftSettings: small),
    .target(name: "Terminal", dependencies: ["JSON"], path: "Sources/Front/Terminal"),
    .target(
      name: "ExportText",
      dependencies: ["Terminal", "ManagedStore", "ManagedModel", "Files", "JSON"],
      path: "Sources/Front/ExportText", swiftSettings: fast),
    .target(name: "Images", dependencies: ["CPictures", "Terminal"], path: "Sources/Front/Images"),
    .target(
      name: "Interface",
      dependencies: [
        "Terminal", "ManagedModel", "ModelWriting", "ManagedStore", "ModelSearch", "Migration",
        "Rescue", "Lint", "Reports", "Comparison", "Watching", "Merging", "Editing",
      ],
      path: "Sources/Front/Interface",
      swiftSettings: small),
    .target(
      name: "Curses", dependencies: ["CNcurses", "Terminal"],
      path: "Sources/Front/Curses", swiftSettings: small,
      linkerSettings: [
        .linkedLibrary("ncursesw", .when(platforms: [.linux])),
        .linkedLibrary("ncurses", .when(platforms: [.macOS])),
      ]),
    // The commands, except those that need the screens: they are compiled beside Interface.
    .target(
      name: "Commands",
      dependencies: [
        "Anonymizing", "AtomicStores", "Comparison", "Containers", "Editing", "ExportText", "Files",
        "JSON", "Lint", "ManagedModel", "ManagedStore", "Merging", "Migration", "ModelSearch",
        "ModelWriting", "Reports", "Rescue", "SQLite", "Seeding", "SwiftModels", "Terminal",
        "Texts", "Watching",
      ],
      path: "Sources/Front/Commands", swiftSettings: unoptimized),
    .executableTarget(
      name: "strata",
      dependencies: [
        "AtomicStores", "Commands", "Comparison", "Containers", "Curses", "Demo", "Editing",
        "ExportText", "Files", "Images", "Interface", "JSON", "ManagedModel", "ManagedStore",
        "Merging",
        "Migration", "ModelSearch", "ModelWriting", "Rescue", "SQLite", "Terminal", "Texts",
        "Watching",
      ],
      path: "Sources/Front/strata",
      swiftSettings: unoptimized, linkerSettings: selfContained),

    .target(
      name: "TestSupport",
      dependencies: [
        "AtomicStores", "Containers", "Rescue", "Migration", "ManagedStore", "Salvage",
        "SwiftModels", "ManagedModel",
        "ModelWriting", "SQLite", "Files", "JSON",
        .target(name: "CCrypto", condition: .when(platforms: [.linux])),
      ],
      path: "Tests/TestSupport",
      swiftSettings: unoptimized),
    // Timing and long fuzzing: run by hand, never by the tests.
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "TestSupport", "Rescue", "Migration", "ModelSearch", "SwiftModels", "ManagedStore",
        "ManagedModel",
        "ModelWriting", "SQLite", "Files",
      ],
      path: "Tests/Benchmarks",
      exclude: [
        "anonymize.py", "compare.py", "deletions.py", "edit.py", "kills.py", "live.py", "merge.py",
        "moments.py", "pagefaults.py", "record.py", "rescue.py", "watch.py",
      ],
      swiftSettings: small),
    .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "TestSupport"]),
    .testTarget(
      name: "ManagedModelTests",
      dependencies: ["ManagedModel", "ModelWriting", "Values", "JSON", "TestSupport"]),
    .testTarget(
      name: "SwiftModelsTests",
      dependencies: [
        "SwiftModels", "ModelSearch", "ManagedStore", "ManagedModel", "Files", "TestSupport",
      ]),
    .testTarget(
      name: "ManagedStoreTests",
      dependencies: [
        "ModelSearch", "ManagedStore", "StoreTables", "Salvage", "ManagedModel", "ModelWriting",
        "SQLite", "Files",
        "JSON", "TestSupport",
      ]),
    .testTarget(
      name: "MigrationTests",
      dependencies: [
        "Mapping", "Migration", "ModelSearch", "ManagedStore", "StoreTables", "Salvage",
        "ManagedModel",
        "ModelWriting",
        "SQLite", "Files", "JSON", "Texts", "TestSupport",
      ]),
    .testTarget(
      name: "WatchingTests",
      dependencies: [
        "Watching", "Comparison", "ManagedStore", "StoreTables", "Salvage", "ManagedModel",
        "SQLite", "Files",
        "TestSupport",
      ]),
    .testTarget(
      name: "RescueTests",
      dependencies: [
        "Rescue", "Interface", "Reports", "Salvage", "Demo", "Seeding", "Migration", "ManagedStore",
        "StoreTables",
        "ManagedModel",
        "ModelWriting", "SQLite", "Files", "Texts", "TestSupport",
      ]),
    .testTarget(
      name: "AnonymizingTests",
      dependencies: [
        "Anonymizing", "DataMasking", "Rescue", "ManagedStore", "ManagedModel", "SQLite", "Files",
        "TestSupport",
      ]),
    .testTarget(
      name: "MergingTests",
      dependencies: [
        "Merging", "Comparison", "Rescue", "ManagedStore", "ManagedModel", "SQLite", "Files",
        "TestSupport",
      ]),
    .testTarget(
      name: "EditingTests",
      dependencies: [
        "Editing", "Comparison", "Rescue", "Migration", "ManagedStore", "ManagedModel", "SQLite",
        "Files", "TestSupport",
      ]),
    .testTarget(
      name: "LintTests",
      dependencies: [
        "Lint", "ModelSearch", "ManagedStore", "ManagedModel", "ModelWriting", "Files",
        "Texts", "TestSupport",
      ]),
    .testTarget(
      name: "SeedingTests",
      dependencies: [
        "Seeding", "ExampleValues", "Demo", "Rescue", "ManagedStore", "ManagedModel", "SQLite",
        "Files", "TestSupport",
      ]),
    // What a program sees that uses the products.
    .testTarget(
      name: "ClientTests",
      dependencies: [
        "Migration", "ModelSearch", "ManagedStore", "ModelWriting", "TestSupport",
      ],
      packageAccess: false),
    .testTarget(name: "ImageTests", dependencies: ["Images", "Terminal", "CPictures"]),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal", "CNcurses", "TestSupport"]),
    .testTarget(name: "CursesTests", dependencies: ["Curses", "Terminal", "CNcurses"]),
    .testTarget(
      name: "InterfaceTests",
      dependencies: [
        "Interface", "Reports", "Terminal", "Rescue", "Lint", "Editing", "Mapping", "Migration",
        "ModelSearch",
        "Comparison", "Merging", "Watching", "ManagedStore", "StoreTables", "ManagedModel",
        "ModelWriting",
        "TestSupport",
      ],
      exclude: ["Snapshots"]),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "strata", "Commands", "Interface", "Reports", "Terminal", "AtomicStores", "Containers",
        "Watching",
        "Comparison", "Lint", "Mapping", "Migration",
        "ModelSearch", "ManagedStore", "StoreTables", "ManagedModel", "ModelWriting", "SQLite",
        "Files", "JSON",
        "Demo", "TestSupport",
      ]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "TestSupport", "ManagedStore", "ManagedModel", "ModelWriting", "SQLite", "Files",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// What only a debugger reads takes the compiler's time, and the program is stripped of it. The frontend is told
// so, since SwiftPM's own -g comes after these flags.
if isRoot {
  for target in package.targets where target.type == .regular || target.type == .executable {
    target.swiftSettings =
      (target.swiftSettings ?? []) + [
        .unsafeFlags(["-Xfrontend", "-gnone"], .when(configuration: .release))
      ]
  }
}

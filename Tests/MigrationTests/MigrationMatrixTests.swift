import Files
import ManagedStore
import ModelWriting
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("All ways between versions")
struct MigrationMatrixTests {
  @Test("a matrix tells equal, direct, chained and impossible pairs apart")
  func pairs() throws {
    let versions = MigrationPathTests.versions(
      try MigrationPathTests.model("a"), try MigrationPathTests.model("b<a"),
      try MigrationPathTests.model("c<b"), try MigrationPathTests.model("c<b", type: "Double"))
    let written = MappingModel(kind: .recipe, entityMappings: [])
    let matrix = try MigrationMatrix(of: versions) { _, _, names in
      names == ("V 3", "V 4") ? written : nil
    }
    #expect(matrix.names == ["V 1", "V 2", "V 3", "V 4"])
    #expect(matrix[0, 0] == MigrationMatrix.Path.none)
    #expect(matrix[0, 1] == .direct(.inferred))
    #expect(matrix[0, 2] == .chain(via: ["V 2"], kinds: [.inferred, .inferred]))
    #expect(matrix[2, 3] == .direct(.recipe))
    #expect(
      matrix[0, 3] == .chain(via: ["V 2", "V 3"], kinds: [.inferred, .inferred, .recipe]))
    guard case .impossible(let from, let to, let error) = matrix[3, 2] else {
      Issue.record("\(String(describing: matrix[3, 2]))")
      return
    }
    #expect(from == "V 4" && to == "V 3")
    #expect(error.code == 134190 && error.entity == "A" && error.property == "c", "\(error)")
    #expect(matrix[4, 0] == nil && matrix[0, -1] == nil)
  }

  @Test("a folder's models are versions; what is there twice counts once")
  func folder() throws {
    let folder = try TemporaryFolder()
    func write(_ model: Model, _ path: String) throws {
      try FileSystem.makeDirectory(folder.path(path))
      try FileSystem.write(
        Array(model.xcdatamodelContents().utf8), to: folder.path(path + "/contents"))
    }
    let (one, two) = (
      try MigrationPathTests.model("a"), try MigrationPathTests.model("a", "b")
    )
    try write(two, "App.xcdatamodeld/App 2.xcdatamodel")
    try write(one, "App.xcdatamodeld/App.xcdatamodel")
    try write(one, "Old.xcdatamodeld/App.xcdatamodel")
    try write(two, "Other.xcdatamodeld/App.xcdatamodel")
    try write(one, "Lone.xcdatamodel")
    try FileSystem.write([1, 2, 3], to: folder.path("Broken.mom"))
    try FileSystem.write([1], to: folder.path("notes.txt"))
    let versions = try ModelVersions(readingFrom: folder.path + "/")
    #expect(
      versions.versions.map(\.name) == ["App 2", "App/App", "Lone", "Other/App"])
    #expect(versions.unreadable.map(\.path) == [folder.path("Broken.mom")])
    #expect(versions.versions[1].path == folder.path("App.xcdatamodeld@App"))
    #expect(
      try ModelVersions(readingFrom: folder.path("Lone.xcdatamodel")).versions.map(\.name)
        == ["Lone"])
    for wrong in ["nowhere", "notes.txt", "Broken.mom"] {
      #expect(throws: CoreDataError.self) {
        try ModelVersions(readingFrom: folder.path(wrong))
      }
    }
    let empty = try TemporaryFolder()
    #expect(throws: CoreDataError.self) { try ModelVersions(readingFrom: empty.path) }
  }

  @Test(
    "the ways through real models", .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: [
      (
        "wibosco/CoreDataMigration_Example.xcdatamodeld",
        ["= i i i", "i = i i", "i i = i", "i i i ="]
      ),
      (
        // Nothing leads from “Moody 4” back to “Moody 3”; “Moody 6” only goes back by “Moody 4”.
        "moody/Moody.xcdatamodeld",
        [
          "= i i i i i", "i = i i i i", "i i = i i i", "✗ ✗ ✗ = i i", "i i i i = i", "2 2 2 i i =",
        ]
      ),
      (
        "bookmarks/BookmarksModel.xcdatamodeld",
        [
          "= i i i i i", "i = i i i i", "i i = i i i", "✗ ✗ ✗ = i i", "✗ ✗ ✗ i = i", "✗ ✗ ✗ i i =",
        ]
      ),
      ("coredataplus/SampleModel/SampleModel.xcdatamodeld", ["= i i", "i = i", "i i ="]),
      ("coredataplus/SampleModel3/SampleModel3.xcdatamodeld", ["= i i", "i = i", "i i ="]),
      ("bookmigration/Model.xcdatamodeld", ["= i i", "i = i", "i i ="]),
    ])
  func fixtures(bundle: String, rows: [String]) throws {
    let versions = try ModelVersions(readingFrom: Fixtures.path(bundle))
    #expect(versions.unreadable == [])
    #expect(Self.rows(of: try MigrationMatrix(of: versions)) == rows)
  }

  private static func rows(of matrix: MigrationMatrix) -> [String] {
    matrix.names.indices.map { from in
      matrix.names.indices.map { to in
        switch matrix[from, to] {
        case .some(.none): "="
        case .direct(let kind): String(kind.rawValue.prefix(1))
        case .chain(let via, _): "\(via.count + 1)"
        case .impossible: "✗"
        case nil: "?"
        }
      }.joined(separator: " ")
    }
  }

  @Test(
    "every store of two large apps reaches every newer version in one step",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: [("wire/zmessaging.xcdatamodeld", 22), ("trailer/Trailer.momd", 11)])
  func large(bundle: String, count: Int) throws {
    let versions = try ModelVersions(readingFrom: Fixtures.path(bundle))
    let matrix = try MigrationMatrix(of: versions)
    #expect(matrix.names.count == count)
    for from in 0..<count {
      for to in from + 1..<count {
        #expect(matrix[from, to] == .direct(.inferred), "\(matrix.names[from]) \(matrix.names[to])")
      }
    }
    guard bundle.hasPrefix("wire") else { return }
    // Going back over 2.54 at once would lose what 2.53 knows under its former name.
    #expect(matrix[13, 0] == .chain(via: ["zmessaging2.53.0"], kinds: [.inferred, .inferred]))
    #expect(throws: CoreDataError.self) {
      try MigrationMatrix(of: versions, isCancelled: { true })
    }
  }
}

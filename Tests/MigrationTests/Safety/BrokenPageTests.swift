import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// A result of which one bit is not what was written, in a table that the migration changed or in one
/// that it left alone and that is compared as pages.
@Suite("One bit in a page of the result")
struct BrokenPageTests {
  /// Pages of trees with a byte in each that holds something.
  private func places(of path: String) throws -> [(page: Int, table: String, offset: Int)] {
    let connection = try Connection(path: path, mode: .immutable)
    let size = try connection.number("PRAGMA page_size")
    return try connection.rows(
      "SELECT pageno, name, pagetype, ncell FROM dbstat WHERE (ncell > 0 OR pagetype = 'overflow') AND name NOT LIKE 'sqlite_%'"
    ).map { row in
      let page = Int(row[0].integer ?? 0)
      let offset = row[2].text == "overflow" ? 4 : size - 1
      return (page, row[1].text ?? "", (page - 1) * size + offset)
    }
  }

  @Test("is refused, whichever page it is", arguments: TestScale.some(1, of: [false, true]))
  func refused(isShifted: Bool) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let contents = try folder.contents()
    let outside = try TemporaryFolder()
    let model = try Gallery.model(
      [Gallery.attribute("note", for: "Place")] + (isShifted ? [Gallery.shift] : []))
    var options = MigrationOptions()
    options.output = outside.path("out.sqlite")
    let plan = try {
      var plan = try Way.inPlace.plan(Store(path: path), to: model)
      plan.bytesFree = nil
      return plan
    }()
    let receipt = try MigrationRun(plan: plan, options: options, beforeVerification: { _ in })
      .run(isCancelled: { false }, progress: { _ in })
    // Where all numbers shift, every row of a model's table is written.
    #expect(receipt.verified.contains { $0.what.contains("byte for byte") } != isShifted)
    let places = try places(of: outside.path("out.sqlite"))
    #expect(Set(places.map(\.table)).isSuperset(of: ["ZPHOTO", "ZPLACE", "Z_METADATA"]))
    for place in places {
      FileSystem.remove(outside.path("out.sqlite"))
      let run = MigrationRun(
        plan: plan, options: options,
        beforeVerification: { result in
          let file = try WritableFile(result.path)
          let byte = try file.read(at: place.offset, count: 1)
          try file.write(byte.map { $0 ^ 1 }, at: place.offset)
        })
      #expect(throws: CoreDataError.self, "page \(place.page) of \(place.table)") {
        _ = try run.run(isCancelled: { false }, progress: { _ in })
      }
    }
    #expect(try folder.contents() == contents)
  }
}

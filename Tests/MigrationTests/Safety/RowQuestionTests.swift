import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// What is compared while a result is read: all that can be, so that SQLite need not be asked row by row.
@Suite("Rows of a result that are compared as it is checked")
struct RowQuestionTests {
  /// The answers for a result of the gallery, and which rows are asked for in all their columns.
  private func answers(
    _ model: Model, breaking sql: String = ""
  ) throws -> (pages: Set<String>, rows: Set<String>, joins: Set<String>, whole: Set<String>) {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let plan = try Way.inPlace.plan(Store(path: path), to: model)
    let step = try #require(plan.steps.first)
    let source = try Store(path: path, model: step.source)
    let meter = ProgressMeter(isCancelled: { false }, report: { _ in })
    let result = folder.path("result.sqlite")
    let made = try StepMaking(
      step, from: source, into: FileSystem.createEmpty(result), archive: nil,
      policies: PolicyBindings(), meter: meter
    ) { _ in }
    try made.run()
    if !sql.isEmpty { try made.connection.execute(sql) }
    let tables = try made.connection.rows(
      "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0"
    ).compactMap { $0.first?.text }
    let questions = try RowQuestions(
      tables, holding: made.contents, from: path, on: made.connection)
    let check = IntegrityCheck(of: result, tables: tables, comparing: questions.comparison)
    #expect(try check.problems(helpedBy: made.connection) == [])
    let whole = made.contents.rows.enumerated().filter { place, row in
      let columns = row.columns.dropFirst().filter {
        !$0.value.isLater && ($0.value.sql != nil || [.empty, .foreign].contains($0.value))
      }
      return questions.asked[place]?.columns == Set(columns.map(\.name))
    }
    return (
      Set(check.answers.filter { $0.value == .pages }.keys),
      Set(check.answers.filter { $0.value != .pages }.keys), questions.joins,
      Set(whole.map(\.element.table))
    )
  }

  @Test("a new attribute: its table row by row, the others as pages")
  func attribute() throws {
    let (entity, with) = Gallery.attribute("note", for: "Place")
    let filled = with.replacing("String\"/>", with: "String\" defaultValueString=\"x\"/>")
    let model = try Gallery.model([(entity, filled)])
    let found = try answers(model)
    #expect(found.rows == ["ZPLACE"])
    #expect(found.pages.isSuperset(of: ["ZPHOTO"]))
    #expect(found.whole.isSuperset(of: ["ZPLACE", "ZPHOTO"]))
    #expect(try answers(model, breaking: "UPDATE main.ZPLACE SET Z_OPT = Z_OPT + 1").rows == [])
  }

  @Test("numbers of entities that shift: every table row by row, join tables as pages")
  func shifted() throws {
    let model = try Gallery.model([Gallery.attribute("note", for: "Place"), Gallery.shift])
    let found = try answers(model)
    #expect(found.rows.isSuperset(of: ["ZPLACE", "ZPHOTO"]))
    #expect(!found.joins.isEmpty && found.joins.isSubset(of: found.pages))
    #expect(found.whole.isSuperset(of: ["ZPLACE", "ZPHOTO"]))
    let name = try #require(found.joins.sorted().first)
    let broken = try answers(model, breaking: "DELETE FROM main.\(quoted(name)) WHERE rowid = 1")
    #expect(!broken.pages.contains(name))
  }
}

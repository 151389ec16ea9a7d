import Lint
import ManagedModel
import TestSupport
import Testing

@Suite(
  "Lint on cases from public reports", .enabled(if: Cases.isAvailable, "the cases are absent"))
struct CaseTests {
  private func run(_ path: String, against old: String? = nil) throws -> LintRun {
    var options = LintOptions()
    options.takesMergeBase = false
    options.against = old.map(Cases.path)
    return try LintRun(of: Cases.path(path), options)
  }

  /// `rule Entity.property severity`, each.
  private func lines(_ run: LintRun) -> [String] {
    run.findings.map { "\($0.rule.id) \($0.subject ?? "—") \($0.severity)" }
  }

  @Test("1: a version outside of the plan is no duplicate, one in it is an error")
  func one() throws {
    #expect(try lines(run("1/outside")).isEmpty)
    #expect(try lines(run("1/planned")) == ["duplicate-checksum V6 error"])
  }

  @Test("4: a version that the base does not have is no way back")
  func four() throws {
    #expect(try lines(run("4/new", against: "4/old")).isEmpty)
    let run = try run("4/new/X.xcdatamodeld", against: "4/old/X.xcdatamodeld")
    #expect(lines(run).isEmpty)
  }

  @Test("6: a mandatory relationship is added")
  func six() throws {
    let found = try run("6").findings("mandatory-without-default")
    #expect(found.map(\.subject) == ["Car.engine", "Car.engine"])
    #expect(found.allSatisfy { $0.severity == .error })
    #expect(
      found.allSatisfy { $0.device?.sentence?.contains("missing relationship values") == true })
  }

  @Test("12: renamingIdentifier= in the file of a model")
  func twelve() throws {
    let found = try run("12/L.xcdatamodeld").findings("renaming-identifier-ignored")
    #expect(found.map(\.subject) == ["Card.labels"])
    #expect(found.first?.line == 3)
  }

  @Test("15: what is left out is said, with what it does to the hash")
  func fifteen() throws {
    let notes = try run("15").notes
    func note(of property: String) -> String { notes.first { $0.contains(property) } ?? "" }
    #expect(note(of: "Vault.keyshares").hasSuffix("The version hash of Vault is unproven"))
    #expect(
      note(of: "Vault.one was left out").hasSuffix("The version hash of Vault is not the app's"))
    #expect(note(of: "Vault.structs").isEmpty && note(of: "Vault.kinds").isEmpty)
  }

  @Test("16: a plan without stages, and a schema that is the container's")
  func sixteen() throws { #expect(try lines(run("16/new", against: "16/old")).isEmpty) }

  @Test("17: an enum that is not optional is added")
  func seventeen() throws {
    #expect(
      try lines(run("17/new", against: "17/old"))
        == ["swiftdata-enum-without-value Geschaeft.regalSortierModus error"])
  }

  @Test("18: defaults that are evaluated once", arguments: ["18", "18l", "18s"])
  func eighteen(name: String) throws {
    let run = try run("18/" + name)
    let names = name == "18s" ? ["uuid", "when", "k", "updatedAt"] : ["syncID", "updatedAt"]
    #expect(run.findings.map(\.property) == names)
    #expect(lines(run).allSatisfy { $0.hasPrefix("swiftdata-default-evaluated-once Note.") })
    #expect(run.count(.error) == 0)
  }

  @Test("18u: one that must be unique is an error")
  func unique() throws {
    let found = try run("18/18u").findings("swiftdata-default-evaluated-once")
    #expect(found.map(\.severity) == [.error, .warning])
  }

  @Test("24, 25: a custom stage refuses what a lightweight one refuses")
  func custom() throws {
    #expect(try lines(run("24b")) == ["mandatory-without-default ItemList.note error"])
    #expect(try lines(run("25")) == ["type-changed Loan.amount error"])
  }
}

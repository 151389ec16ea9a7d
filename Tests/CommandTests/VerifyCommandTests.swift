import ManagedModel
import Migration
import TestSupport
import Testing

@testable import ManagedStore
@testable import strata

@Suite("verify")
struct VerifyCommandTests {
  private let place: StoreFolder
  private let before: String
  private let after: String

  init() throws {
    place = try StoreFolder()
    before = try place.add("Before.sqlite")
    after = place.folder.path("After.sqlite")
    #expect(
      Captured("migrate", before, "--to", place.bundle, "--output", after).status == .done)
  }

  private func verify(
    _ words: [String], _ findings: VerifyCommand.Findings
  ) throws -> (status: CommandStatus, out: String, mapping: MappingModel?) {
    let command = Command(
      "verify", .migrate, "", arguments: ["BEFORE", "AFTER"],
      options: try #require(CommandTable.command(named: "rehearse")).options, example: ""
    ) { _, _ in .done }
    var out: [UInt8] = []
    var mapping: MappingModel?
    let status = try VerifyCommand.run(
      Arguments(words, for: command), Console(out: { out += $0 }, err: { _ in })
    ) { before, after, given in
      #expect(before.model != after.model && before.modelMatches && after.modelMatches)
      mapping = given
      return findings
    }
    return (status, String(decoding: out, as: UTF8.self), mapping)
  }

  private var findings: VerifyCommand.Findings {
    VerifyCommand.Findings(
      differences: [], total: 0, entities: [.init(entity: "Recipe", before: 3, after: 3)],
      edges: ["Recipe.tags": 4], compared: [.init(what: "values", count: 12)])
  }

  @Test("equal stores are told with what was compared (0)")
  func same() throws {
    let told = try verify([before, after, "--to", place.bundle], findings)
    #expect(told.status == .done)
    for text in ["Recipe       3      3", "Recipe.tags", "· values: 12", "✓ every object"] {
      #expect(told.out.contains(text), "\(text)")
    }
    #expect(told.mapping?.kind == .inferred)
    let through = try verify(
      [before, after, "--to", place.bundle, "--via", place.bundle], findings)
    #expect(through.mapping == told.mapping)
  }

  @Test("differences are listed with their values (1), in JSON too")
  func differs() throws {
    var findings = findings
    findings.total = 12
    findings.differences = [
      .init(
        entity: "Recipe", property: "title", object: ObjectID(entity: "Recipe", key: 3),
        before: "a", after: nil, message: "the value differs"),
      .init(entity: "Tag", property: nil, object: nil, message: "2 objects are gone"),
    ]
    let told = try verify([before, after, "--to", place.bundle], findings)
    #expect(told.status == .no)
    for text in [
      "✗ Recipe/p3.title: the value differs: a → NULL", "✗ Tag: 2 objects are gone\n",
      "… and 10 more", "12 differences",
    ] {
      #expect(told.out.contains(text), "\(text)")
    }
    let json = try verify([before, after, "--to", place.bundle, "--json"], findings)
    #expect(json.status == .no && json.out.hasPrefix(#"{"same":false,"total":12,"#))
    #expect(json.out.contains(#""object":"Recipe/p3","before":"a","after":null"#))
  }

  @Test("a store that is not of the model is told before anything is compared")
  func wrongModel() throws {
    let error = #expect(throws: CoreDataError.self) {
      try verify([before, before, "--to", place.bundle], findings)
    }
    #expect(error?.kind == .incompatible && error?.code == 134100)
  }
}

import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

/// What findings say, and whether their commands do what is needed.
@Suite("The sentences and commands of findings")
struct FindingSentenceTests {
  @Test("the verb agrees with the number")
  func numbers() throws {
    let patient = try Patient(objects: 300)
    try patient.change(
      "UPDATE ZSTEP SET ZRECIPE = 9000 WHERE Z_PK = 1; UPDATE ZSTEP SET ZTEXT = NULL WHERE Z_PK IN (2, 3)"
    )
    let dangling = try patient.finding(.toOneDangling)
    #expect(dangling.sentence == "1 object of Step.recipe references missing objects of Recipe.")
    let mandatory = try patient.finding(.mandatory)
    #expect(mandatory.sentence == "2 objects of Step.text have no value, which the model requires.")
    try patient.change("UPDATE ZSTEP SET ZTEXT = 'a' WHERE Z_PK = 3")
    #expect(
      try patient.finding(.mandatory).sentence
        == "1 object of Step.text has no value, which the model requires.")
    #expect(NumberText.agreeing(1, "are of an abstract entity") == "is of an abstract entity")
    #expect(NumberText.agreeing(0, "have a NULL key") == "have a NULL key")
  }

  @Test(
    "where neither the tables' names nor a model are left, the command asks for a model",
    arguments: [true, false])
  func model(isModelLeft: Bool) throws {
    let patient = try Patient(objects: 900)
    if !isModelLeft { try patient.change("DELETE FROM Z_MODELCACHE; VACUUM") }
    // The list of tables, on the first page and those below it.
    let root = try patient.root(of: "Z_MODELCACHE")
    try patient.spoil { bytes in
      for place in 100..<4096 { bytes[place] = 0 }
      guard !isModelLeft else { return }
      for place in (root - 1) * 4096..<root * 4096 { bytes[place] = 0 }
    }
    let finding = try #require(
      try patient.diagnosis().findings.first { $0.action == .salvage })
    let command = try #require(finding.command?.typed)
    let isAsked = command.hasSuffix(" --model MODEL")
    let source = try SalvageSource(path: patient.path)
    #expect(try isAsked == (!source.hasTables && source.model() == nil), "\(command)")
    if isModelLeft { #expect(!isAsked) }
  }

  @Test("what is mandatory and stood on a lost page is put off until the page is salvaged")
  func mandatoryOfLostPages() throws {
    let lost = Finding(.pageUnreadable, "1 object is damaged.", in: StorePlace(path: "a.sqlite"))
    var finding = Finding(.mandatory, "1 object has no value.", in: StorePlace(path: "a.sqlite"))
    finding.putOff(for: lost)
    #expect(finding.action == .salvage)
    #expect(finding.advice.text.contains("salvage the store first"))
  }
}

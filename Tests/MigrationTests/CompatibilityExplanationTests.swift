import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import Migration

@Suite("Why a store does not open with a model")
struct CompatibilityExplanationTests {
  /// Texts of ``Library/version1`` replaced, the entity that tells of it, what it says, and whether
  /// lightweight migration can carry it.
  static let changes: [(old: String, new: String, entity: String, said: String, inferred: Bool)] = [
    (
      "<attribute name=\"nickname\"",
      "<attribute name=\"born\" optional=\"YES\" attributeType=\"Date\"/><attribute name=\"nickname\"",
      "Author", "attribute “born” added", true
    ),
    (
      "<attribute name=\"nickname\" optional=\"YES\" attributeType=\"String\"/>", "", "Author",
      "attribute “nickname” removed", true
    ),
    (
      "name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\"",
      "name=\"pages\" optional=\"YES\" attributeType=\"Integer 64\"", "Book",
      "type Integer 16 became Integer 64", true
    ),
    (
      "name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\"",
      "name=\"pages\" optional=\"YES\" attributeType=\"String\"", "Book",
      "type Integer 16 became String", false
    ),
    (
      "name=\"label\" optional=\"YES\"", "name=\"label\"", "Shelf", "“label” became mandatory", true
    ),
    (
      "name=\"label\" optional=\"YES\"", "name=\"label\" optional=\"YES\" transient=\"YES\"",
      "Shelf", "“label” became transient", true
    ),
    (
      "name=\"label\" optional=\"YES\"",
      "name=\"label\" versionHashModifier=\"2\" optional=\"YES\"", "Shelf",
      "version hash modifier none became “2”", true
    ),
    (
      "name=\"author\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Author\" inverseName=\"books\"",
      "name=\"author\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Author\"", "Book",
      "inverse “books” became none", true
    ),
    (
      "name=\"shelves\" optional=\"YES\" toMany=\"YES\"",
      "name=\"shelves\" optional=\"YES\" toMany=\"YES\" ordered=\"YES\"", "Book",
      "“shelves” became ordered", true
    ),
    (
      "name=\"shelves\" optional=\"YES\" toMany=\"YES\"",
      "name=\"shelves\" optional=\"YES\" toMany=\"YES\" maxCount=\"5\"", "Book",
      "maximum count 0 became 5", true
    ),
    (
      "name=\"shelves\" optional=\"YES\" toMany=\"YES\"",
      "name=\"shelves\" optional=\"YES\" toMany=\"YES\" minCount=\"1\"", "Book",
      "minimum count 0 became 1", true
    ),
    (
      "name=\"author\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Author\"",
      "name=\"author\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Loan\"", "Book",
      "destination “Author” became “Loan”", false
    ),
    (
      "<attribute name=\"due\" optional=\"YES\" attributeType=\"Date\"/>",
      "<attribute name=\"due\" optional=\"YES\" attributeType=\"Date\"/><uniquenessConstraints><uniquenessConstraint><constraint value=\"due\"/></uniquenessConstraint></uniquenessConstraints>",
      "Loan", "must be unique now: due", true
    ),
    (
      "<entity name=\"Loan\">", "<entity name=\"Loan\" isAbstract=\"YES\">", "Loan",
      "the entity became abstract", true
    ),
    (
      "<entity name=\"Manual\" parentEntity=\"Book\">", "<entity name=\"Manual\">", "Manual",
      "parent entity “Book” became none", false
    ),
    (
      "<entity name=\"Loan\">", "<entity name=\"Loan\" parentEntity=\"Shelf\">", "Loan",
      "parent entity none became “Shelf”", false
    ),
    (
      "<entity name=\"Loan\">", "<entity name=\"Loan\" versionHashModifier=\"x\">", "Loan",
      "version hash modifier none became “x”", true
    ),
    (
      "name=\"cover\" optional=\"YES\" attributeType=\"Binary\" allowsExternalBinaryDataStorage=\"YES\"",
      "name=\"cover\" optional=\"YES\" attributeType=\"Binary\"", "Book",
      "external storage switched off", true
    ),
    (
      "<entity name=\"Book\">", "<entity name=\"Book\" versionHashModifier=\"x\">", "Novel",
      "its parent “Book” changed", true
    ),
  ]

  @Test("each kind of change is told", arguments: changes)
  func told(
    change: (old: String, new: String, entity: String, said: String, inferred: Bool)
  ) throws {
    let source = try Library.model(Library.version1)
    let model = try Library.model(replacing: [(change.old, change.new)])
    let explanation = CompatibilityExplanation(
      hashes: source.versionHashes, source: source, model: model)
    #expect(!explanation.isCompatible)
    let reason = explanation.reasons.first { $0.entity == change.entity }
    #expect(
      reason?.changes.contains { $0.description.contains(change.said) } == true,
      "\(String(describing: reason?.changes.map(\.description)))")
    switch explanation.inference {
    case .possible: #expect(change.inferred)
    case .refused(let error):
      #expect(!change.inferred)
      // Core Data does not refuse that links lead elsewhere: it would link other objects.
      #expect(error.code == 134190 || error.message.contains("the destination of the relationship"))
      #expect(error.entity != nil && error.hint != nil)
    default: Issue.record("\(explanation.inference)")
    }
    // Every entity whose hash moved has a reason, since the store's model is known.
    #expect(explanation.reasons.allSatisfy { !$0.changes.isEmpty })
  }

  @Test("an entity more or less is told, and a store of the model opens")
  func entities() throws {
    let source = try Library.model(Library.version1)
    let more = try Library.model(replacing: [("</model>", "<entity name=\"Fine\"/></model>")])
    let up = CompatibilityExplanation(hashes: source.versionHashes, source: source, model: more)
    #expect(up.reasons.map(\.entity) == ["Fine"] && up.reasons[0].problem == .missingInStore)
    let down = CompatibilityExplanation(hashes: more.versionHashes, source: more, model: source)
    #expect(down.reasons.map(\.entity) == ["Fine"] && down.reasons[0].problem == .missingInModel)
    let same = CompatibilityExplanation(hashes: source.versionHashes, source: nil, model: source)
    #expect(same.isCompatible && same.inference == .notNeeded && same.reasons.isEmpty)
    let unknown = CompatibilityExplanation(hashes: more.versionHashes, source: nil, model: source)
    #expect(unknown.inference == .unknown && unknown.reasons.count == 1)
  }

  @Test("a store of one configuration is compatible with it")
  func configuration() throws {
    let model = try Library.model(
      """
      <model><entity name="A"><attribute name="a" attributeType="String"/></entity>
      <entity name="B"><attribute name="b" attributeType="String"/></entity>
      <configuration name="Local"><memberEntity name="A"/></configuration></model>
      """)
    let hashes = model.versionHashes.filter { $0.key == "A" }
    let explanation = CompatibilityExplanation(hashes: hashes, source: nil, model: model)
    #expect(explanation.isCompatible && explanation.configuration == "Local")
  }
}

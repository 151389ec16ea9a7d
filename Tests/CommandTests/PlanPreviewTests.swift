import Files
import ManagedModel
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

/// The first objects that a plan shows, before and after.
@Suite("The first objects of a plan")
struct PlanPreviewTests {
  private static func model(_ more: String = "") -> String {
    """
    <model userDefinedModelVersionIdentifier=""><entity name="Person">
    <attribute name="name" optional="YES" attributeType="String"/>
    <attribute name="nickname" optional="YES" attributeType="String"/>
    <attribute name="age" optional="YES" attributeType="Integer 32"/>
    \(more)</entity></model>
    """
  }

  @Test("show what is computed from, and not what is copied though another name has its name in it")
  func computed() throws {
    let folder = try TemporaryFolder()
    let bundle = folder.path("People.xcdatamodeld")
    let after = Self.model(#"<attribute name="call" optional="YES" attributeType="String"/>"#)
    try FileSystem.makeDirectory(bundle)
    for (name, text) in [("People", Self.model()), ("People 2", after)] {
      try FileSystem.makeDirectory("\(bundle)/\(name).xcdatamodel")
      try FileSystem.write(Array(text.utf8), to: "\(bundle)/\(name).xcdatamodel/contents")
    }
    let store = folder.path("People.sqlite")
    let writer = try StoreWriter(creating: store, model: Model(contents: Array(Self.model().utf8)))
    try writer.insert(
      "Person",
      attributes: ["name": .string("Ann"), "nickname": .string("Annie"), "age": .integer(7)])
    try writer.finish()
    let recipe = folder.path("people.json5")
    let text = """
      {
        from: "People", to: "People 2",
        entityMappings: [
          { source: "Person", destination: "Person", where: "age > 1",
            attributes: { call: "upper(nickname)" } },
        ],
      }
      """
    try FileSystem.write(Array(text.utf8), to: recipe)
    let plan = Captured(
      ["plan", store, "--to", bundle + "@People 2", "--mapping", recipe], width: 120)
    let lines = plan.lines.map { $0.split(separator: " ") }
    let head = try #require(lines.firstIndex { $0.first == "the" && $0.contains("before") })
    #expect(lines[head + 1] == ["age", "nickname", "→", "call"], "\(plan.out)\(plan.err)")
    #expect(lines[head + 2] == ["Person/p1", "7", "Annie", "→", "ANNIE"], "\(plan.out)")
  }
}

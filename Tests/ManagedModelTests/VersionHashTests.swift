import Testing

@testable import ManagedModel

@Suite("version hashes")
struct VersionHashTests {
  @Test("a model of one entity hashes as Apple's tools say")
  func handVector() throws {
    var user = Entity("User")
    user.attributes = [
      Attribute("name", .string), Attribute("petName", .string, optional: true),
    ]
    let model = try Model(entities: [user])
    #expect(
      model.versionHashes["User"]?.hex
        == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
    #expect(
      model.versionHashesDigest
        == "0KLB/FnL8roMcgeszeCxnPnvYqnn4VzB2DpFP6csqrDKzLB6fyG5rrVfjY5DtnQxx4355oWuKFublPf2Jo1UWg=="
    )
    #expect(model.versionChecksum == "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
  }

  @Test("a version without a name is called by its identifiers, else by its checksum")
  func versionName() throws {
    let hashes = try Model(entities: [Entity("User")]).versionHashes
    #expect(Model.versionName(identifiers: ["", "2.6"], hashes: hashes) == "2.6")
    #expect(Model.versionName(identifiers: ["a", "b"], hashes: hashes) == "a, b")
    #expect(
      Model.versionName(identifiers: [""], hashes: hashes) == Model.versionChecksum(of: hashes))
  }

  @Test("what only matters to the app moves no hash")
  func unhashed() throws {
    var plain = Entity("A")
    plain.attributes = [Attribute("x", .string, optional: true)]
    plain.relationships = [Relationship("r", to: "A")]
    var dressed = plain
    dressed.className = "B"
    dressed.renamingIdentifier = "C"
    dressed.userInfo = ["a": "b"]
    dressed.fetchIndexes = [FetchIndex("i", elements: [])]
    dressed.attributes[0].defaultValue = .string("d")
    dressed.attributes[0].isIndexed = true
    dressed.attributes[0].renamingIdentifier = "y"
    dressed.relationships[0].deleteRule = .cascade
    var scratch = Attribute("scratch", .string)
    scratch.isTransient = true
    dressed.attributes.append(scratch)
    #expect(
      try Model(entities: [plain]).versionHashes == Model(entities: [dressed]).versionHashes)
  }

  @Test("a change of the parent moves the hashes of its children")
  func inheritance() throws {
    var parent = Entity("Parent")
    let models = try [false, true].map { optional in
      parent.attributes = [Attribute("x", .string, optional: optional)]
      return try Model(entities: [parent, Entity("Child", parent: "Parent"), Entity("Other")])
    }
    #expect(models[0].versionHashes["Child"] != models[1].versionHashes["Child"])
    #expect(models[0].versionHashes["Other"] == models[1].versionHashes["Other"])
    #expect(models[0].propertyHashes(of: "Child").keys.sorted() == ["x"])
    #expect(models[0].propertyHashes(of: "Child") != models[1].propertyHashes(of: "Child"))
  }

  @Test("hexadecimal digits make a hash, and nothing else does")
  func hexadecimal() {
    let hash = VersionHash(bytes: Array(0..<32))
    #expect(hash?.hex.hasPrefix("000102030405") == true)
    #expect((hash?.hex.uppercased()).flatMap { VersionHash(hex: $0) } == hash)
    #expect(VersionHash(hex: "00") == nil)
    #expect(VersionHash(hex: String(repeating: "zz", count: 32)) == nil)
    #expect(VersionHash(bytes: []) == nil)
  }
}

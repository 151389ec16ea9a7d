import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands
@testable import Containers
@testable import Interface
@testable import strata

@Suite("Stores of simulators")
struct SimulatorTests {
  private static let metadata = ".com.apple.mobile_container_manager.metadata.plist"

  /// A home folder with simulators, as Xcode lays them out.
  private struct Home {
    let folder: TemporaryFolder
    let store: String

    init() throws {
      folder = try TemporaryFolder()
      store = folder.path("Plain.store")
      var note = Entity("Note")
      note.attributes = [Attribute("title", .string, optional: true)]
      let writer = try StoreWriter(creating: store, model: Model(entities: [note]))
      try writer.insert("Note", attributes: ["title": .string("Stew")])
      try writer.finish()
    }

    var devices: String { folder.path("home/" + SimulatorStores.place) }

    func write(_ properties: [String: String], to path: String) throws {
      try FileSystem.create(
        path, holding: PropertyList.binary(.dictionary(properties.mapValues { .string($0) })))
    }

    func addDevice(_ udid: String, _ properties: [String: String]) throws {
      try FileSystem.makeDirectory(devices + "/" + udid)
      try write(properties, to: "\(devices)/\(udid)/device.plist")
    }

    /// - Returns: the container's folder.
    @discardableResult
    func addContainer(
      _ udid: String, _ place: String, _ name: String, _ identifier: String?, store inner: String
    ) throws -> String {
      let container = "\(devices)/\(udid)/data/Containers/\(place)/\(name)"
      try FileSystem.makeDirectory(FileSystem.parent(of: container + "/" + inner) ?? container)
      if let identifier {
        try write(
          ["MCMMetadataIdentifier": identifier], to: container + "/" + SimulatorTests.metadata)
      }
      try FileSystem.copyOver(store, to: container + "/" + inner)
      return container
    }

    func list(_ options: String...) -> Captured {
      Captured(["stores", "--simulators", "--home", folder.path("home")] + options)
    }

    var found: [SimulatorStore] { get throws { try SimulatorStores(in: devices).stores } }
  }

  private static let support = "Library/Application Support/default.store"

  private static func home() throws -> Home {
    let home = try Home()
    try home.addDevice(
      "U1", ["name": "iPhone 17", "runtime": "com.apple.CoreSimulator.SimRuntime.iOS-26-1"])
    try home.addContainer("U1", "Data/Application", "C1", "com.example.Recipes", store: support)
    try home.addContainer(
      "U1", "Shared/AppGroup", "G1", "group.com.example", store: "Shared.sqlite")
    return home
  }

  @Test("stores are listed by simulator, app and app group, Apple's own last")
  func listed() throws {
    let home = try Self.home()
    try home.addContainer("U1", "Data/Application", "C0", "com.apple.news", store: "News.sqlite")
    let found = try home.found
    #expect(found.count == 3)
    #expect(found.last?.app == "com.apple.news")
    let app = try #require(found.first { $0.app == "com.example.Recipes" })
    #expect(app.device == .init(udid: "U1", name: "iPhone 17", runtime: "iOS 26.1"))
    #expect(app.name == Self.support && app.group == nil)
    #expect(app.bytes == FileSystem.status(home.store)?.size && app.logBytes == nil)
    #expect(found.contains { $0.group == "group.com.example" && $0.name == "Shared.sqlite" })
    let text = home.list()
    #expect(text.status == .done)
    #expect(text.out.contains("3 stores on 1 simulator\n"))
    #expect(text.flat.contains("iPhone 17, iOS 26.1 com.example.Recipes"), "\(text.out)")
    #expect(try Store(path: app.path).counts() == ["Note": 1])
  }

  @Test("an app that was installed again is known by its identifier, whatever its folder is called")
  func reinstalled() throws {
    let home = try Self.home()
    let applications = home.devices + "/U1/data/Containers/Data/Application"
    try Folder(applications).rename("C1", to: "C2")
    let app = try #require(try home.found.first { $0.app == "com.example.Recipes" })
    #expect(app.path.hasSuffix("/C2/" + Self.support))
  }

  @Test("the newest is first, and a -wal counts")
  func order() throws {
    let home = try Self.home()
    let newest = try home.addContainer(
      "U1", "Data/Application", "C9", "com.example.Zoo", store: "Zoo.sqlite")
    try FileSystem.create(newest + "/Zoo.sqlite-wal", holding: [UInt8](repeating: 0, count: 40))
    let first = try #require(try home.found.first)
    #expect(first.app == "com.example.Zoo" && first.logBytes == 40)
  }

  @Test("links are not followed, and what is written in property lists is only text")
  func hostile() throws {
    let home = try Self.home()
    try home.addDevice("U2", ["name": "\u{1B}[31mred", "runtime": "odd"])
    let bad = try home.addContainer(
      "U2", "Data/Application", "C1", "../../\u{1B}]0;x", store: "A.sqlite")
    try Folder(bad).createLink("B.sqlite", to: home.store)
    try Folder(bad).createLink("up", to: "..")
    try Folder(home.devices).createLink("U3", to: "U1")
    let odd = try home.addContainer("U2", "Data/Application", "C2", nil, store: "C.sqlite")
    try FileSystem.create(odd + "/" + Self.metadata, holding: Array("<plist".utf8))
    let found = try home.found.filter { $0.device.udid != "U1" }
    #expect(Set(found.map(\.name)) == ["A.sqlite", "C.sqlite"])
    #expect(found.first { $0.name == "C.sqlite" }?.app == "C2")
    #expect(found.allSatisfy { $0.device.runtime == "odd" })
    #expect(!home.list().out.contains("\u{1B}"))
    #expect(!home.list("--json").out.contains("\u{1B}"))
  }

  @Test("without simulators the status is 1, and a PATH beside --simulators is a mistake")
  func none() throws {
    let folder = try TemporaryFolder()
    let told = Captured("stores", "--simulators", "--home", folder.path, "--json")
    #expect(told.status == .no && told.out.contains("\"stores\":[]"))
    #expect(Captured("stores", folder.path, "--simulators").status == .usage)
    #expect(Captured("stores").status == .usage)
  }

  @Test("the article on formats shows the members that are printed")
  func article() throws {
    let home = try Self.home()
    let printed = try home.list("--json").decoded(Shelves.JSON.self)
    let shown = try FormatsArticle.example("{\"path\"")
    #expect(shown.keys == printed.keys)
    let (own, example) = (printed["stores"]?.array.first, shown["stores"]?.array.first)
    #expect(own != nil && own?.keys == example?.keys)
    #expect(own?["device"]?.keys == example?["device"]?.keys)
  }

  @Test("the choice of a store lists them by their names")
  func picked() throws {
    let home = try Self.home()
    let (listing, peeks) = try #require(try SimulatorReading.list(home.devices))
    #expect(
      Set(listing.entries.map(\.name)) == [
        "iPhone 17, iOS 26.1  com.example.Recipes  default.store",
        "iPhone 17, iOS 26.1  group.com.example  Shared.sqlite",
      ])
    for entry in listing.entries {
      guard case .store? = peeks[entry.path] else {
        Issue.record("\(entry.path) is no store")
        continue
      }
    }
    #expect(try SimulatorReading.list(home.folder.path) == nil)
  }
}

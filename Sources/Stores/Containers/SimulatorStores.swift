import Files
import ManagedModel

/// A store that an app keeps on a simulator.
package struct SimulatorStore: Sendable, Equatable {
  /// A simulator, as its `device.plist` describes it.
  package struct Device: Sendable, Equatable {
    /// The name of its folder.
    package var udid: String
    /// `iPhone 17 Pro`; the UDID where nothing names it.
    package var name: String
    /// `iOS 26.1`; `nil` where nothing says so.
    package var runtime: String?

    /// Both, for a person.
    package var description: String { name + (runtime.map { ", \($0)" } ?? "") }
  }

  /// Where it is.
  package var path: String
  /// The simulator.
  package var device: Device
  /// The bundle identifier of the app or extension in whose data it is.
  package var app: String?
  /// The app group in whose folder it is.
  package var group: String?
  /// Its path in that folder.
  package var name: String
  /// Bytes of its main file.
  package var bytes: Int
  /// Bytes of its -wal; `nil` without one.
  package var logBytes: Int?
  /// When it or its -wal was last written to, in seconds since 2001-01-01 UTC.
  package var modified: Double
  /// What its main file shows.
  package var look: StoreLook

  /// The app or the app group.
  package var owner: String { app ?? group ?? "" }
}

/// The stores of all simulators of a person.
///
/// The folder of an app's data has another name after each installation. Apps and app groups are known by the
/// identifier in a property list that containermanagerd leaves in each of these folders. Links are not
/// followed: all that is found is below the folder of the simulators.
package struct SimulatorStores: Sendable {
  /// Where the simulators are in a home folder.
  package static let place = "Library/Developer/CoreSimulator/Devices"
  private static let metadata = ".com.apple.mobile_container_manager.metadata.plist"
  /// No property list of these is larger.
  private static let listSize = 1 << 20
  /// No app keeps a store deeper.
  private static let depth = 16

  /// The folder of the simulators.
  package let path: String
  /// The stores; those of Apple's own apps last, the newest of each kind first.
  package private(set) var stores: [SimulatorStore] = []
  /// What was not looked into, as sentences.
  package private(set) var notes: [String] = []
  /// How many names may still be looked at.
  private var left: Int

  /// - Throws: ``CoreDataError`` where the folder is not there or cannot be read.
  package init(in path: String, limits: ContainerLimits = ContainerLimits()) throws {
    let devices = try Folder(path)
    self.path = devices.path
    left = limits.entries
    for udid in try devices.list() {
      guard let folder = try? devices.folder(udid),
        let containers = Self.folder(["data", "Containers"], in: folder)
      else { continue }
      let device = Self.device(udid, in: folder)
      for (way, isGroup) in [
        (["Data", "Application"], false), (["Data", "PluginKitPlugin"], false),
        (["Shared", "AppGroup"], true),
      ] {
        try look(into: Self.folder(way, in: containers), of: device, isGroup: isGroup)
      }
    }
    if left <= 0 {
      notes.append(
        "There are more than \(NumberText.grouped(limits.entries)) files: not all were looked at.")
    }
    stores.sort {
      ($0.isApples ? 1 : 0, -$0.modified, $0.path) < ($1.isApples ? 1 : 0, -$1.modified, $1.path)
    }
  }

  /// Whether a path is that of a folder of simulators, by its name.
  package static func isPlace(_ path: String) -> Bool { path.hasSuffix("/" + place) }

  private static func folder(_ way: [String], in folder: Folder) -> Folder? {
    way.reduce(Optional(folder)) { folder, name in folder.flatMap { try? $0.folder(name) } }
  }

  private static func properties(_ name: String, in folder: Folder) -> PropertyListValue? {
    guard let file = try? folder.file(name), let bytes = try? file.read(at: 0, count: listSize)
    else { return nil }
    return try? PropertyList.read(bytes)
  }

  private static func text(_ key: String, of properties: PropertyListValue?) -> String? {
    properties?[key]?.string.flatMap { $0.isEmpty ? nil : String($0.prefix(200)) }
  }

  private static func device(_ udid: String, in folder: Folder) -> SimulatorStore.Device {
    let properties = properties("device.plist", in: folder)
    // com.apple.CoreSimulator.SimRuntime.iOS-26-1
    let words = text("runtime", of: properties)?.split(separator: ".").last?.split(separator: "-")
    let runtime = words.map { words in
      ([words.prefix(1).joined()] + [words.dropFirst().joined(separator: ".")])
        .filter { !$0.isEmpty }.joined(separator: " ")
    }
    return SimulatorStore.Device(
      udid: udid, name: text("name", of: properties) ?? udid, runtime: runtime)
  }

  private mutating func look(
    into folder: Folder?, of device: SimulatorStore.Device, isGroup: Bool
  ) throws {
    for name in (try? folder?.list()) ?? [] {
      guard let container = try? folder?.folder(name) else { continue }
      let owner =
        Self.text("MCMMetadataIdentifier", of: Self.properties(Self.metadata, in: container))
        ?? name
      try walk(
        container, 0,
        SimulatorStore(
          path: container.path, device: device, app: isGroup ? nil : owner,
          group: isGroup ? owner : nil, name: "", bytes: 0, modified: 0, look: .nothing))
    }
  }

  /// - Parameter place: the folder, with whose it is.
  private mutating func walk(_ folder: Folder, _ depth: Int, _ place: SimulatorStore) throws {
    try Task.checkCancellation()
    for name in (try? folder.list()) ?? [] where left > 0 {
      left -= 1
      guard let entry = try? folder.entry(name) else { continue }
      var inner = place
      inner.path = folder.path(of: name)
      inner.name += (place.name.isEmpty ? "" : "/") + name
      switch entry.kind {
      case .file where StoreFileName.isStore(name):
        let log = (try? folder.entry(name + "-wal")).flatMap { $0.kind == .file ? $0 : nil }
        inner.bytes = entry.size
        inner.logBytes = log?.size
        inner.modified = max(entry.modified, log?.modified ?? entry.modified)
        inner.look = StoreLook(at: inner.path)
        switch inner.look {
        case .store, .atomic, .damaged: stores.append(inner)
        case .database, .nothing, .notDownloaded, .locked: break
        }
      case .folder
      where depth < Self.depth && !name.hasSuffix("_SUPPORT") && !StoreFileName.isModelBundle(name):
        if let next = try? folder.folder(name) { try walk(next, depth + 1, inner) }
      case .file, .folder, .link, .other: break
      }
    }
  }
}

extension SimulatorStore {
  /// Whether it is one of Apple's own.
  fileprivate var isApples: Bool {
    owner.hasPrefix("com.apple.") || owner.hasPrefix("group.com.apple.")
  }
}

import ManagedModel

/// The lines on which the elements of a model's `contents` stand, by name.
///
/// The model itself keeps none: what is compared and hashed has no business with layout.
struct ElementLines: Sendable, Equatable {
  /// Line of each entity.
  private(set) var entities: [String: Int] = [:]
  /// Line of each property that an entity declares, by the entity.
  private(set) var properties: [String: [String: Int]] = [:]
  /// An element with the attribute `renamingIdentifier=`, which Xcode ignores.
  struct IgnoredIdentifier: Sendable, Equatable {
    var entity: String
    /// The property; `nil` for the entity itself.
    var property: String?
    var identifier: String
  }
  /// Elements with `renamingIdentifier=` and without `elementID=`, in their order.
  private(set) var ignoredIdentifiers: [IgnoredIdentifier] = []
  /// Entities that Xcode marked for CloudKit, by a configuration's name; the empty one stands for all.
  private(set) var cloudKit: Set<String> = []

  /// Reads the lines; of bytes that are no XML those up to where it breaks.
  init(contents bytes: [UInt8]) {
    let collected = Collected()
    try? XMLReader.read(bytes) { collected.take($0, line: $1.line) }
    self = collected.lines
  }

  /// The line of an entity, or of a property of it.
  func line(of entity: String, _ property: String?) -> Int? {
    property.flatMap { properties[entity]?[$0] } ?? entities[entity]
  }

  private final class Collected {
    var lines = ElementLines()
    private var path: [String] = []
    private var entity: String?

    private func note(_ value: (String) -> String?, of entity: String, _ property: String?) {
      guard value("elementID") == nil, let identifier = value("renamingIdentifier") else { return }
      lines.ignoredIdentifiers.append(
        IgnoredIdentifier(entity: entity, property: property, identifier: identifier))
    }

    func take(_ event: XMLReader.Event, line: Int) {
      switch event {
      case .start(let tag, let attributes):
        defer { path.append(tag) }
        func value(_ key: String) -> String? { attributes.first { $0.name == key }?.value }
        let name = value("name")
        switch (path.last, tag) {
        case (nil, "model") where value("usedWithCloudKit") == "YES": lines.cloudKit.insert("")
        case ("model", "configuration") where value("usedWithCloudKit") == "YES":
          if let name { lines.cloudKit.insert(name) }
        case ("model", "entity"):
          entity = name
          if let name {
            lines.entities[name] = line
            note(value, of: name, nil)
          }
        case ("entity", "attribute"), ("entity", "relationship"), ("entity", "fetchedProperty"):
          if let entity, let name {
            lines.properties[entity, default: [:]][name] = line
            note(value, of: entity, name)
          }
        default: break
        }
      case .end: if !path.isEmpty { path.removeLast() }
      case .text: break
      }
    }
  }

  private init() {}
}

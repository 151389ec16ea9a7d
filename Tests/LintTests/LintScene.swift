import Files
import Lint
import ManagedModel
import ManagedStore
import ModelSearch
import TestSupport

/// A bundle, or source, as it shipped and as it is now, in a folder of its own.
struct LintScene {
  /// A version of a bundle: its name and the entities of its `contents`.
  typealias Version = (name: String, entities: String)

  var shipped: [Version] = []
  var shippedCurrent: String?
  var now: [Version] = []
  var current: String?
  /// Swift source instead.
  var shippedSource: String?
  var source: String?
  /// Mapping models as recipes, and options.
  var recipe: String?
  var options = LintOptions()
  /// Objects of the store that shipped, by entity: attributes of each.
  var objects: [(entity: String, attributes: [String: AttributeValue])] = []

  static func contents(_ entities: String, attributes: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel"\(attributes)>
    \(entities)
    </model>
    """
  }

  /// Two versions with the same name at the base and now, the second one new.
  static func step(_ before: String, _ after: String) -> LintScene {
    LintScene(
      shipped: [("App", before)], shippedCurrent: "App",
      now: [("App", before), ("App 2", after)], current: "App 2")
  }

  /// One version that shipped, as it is now.
  static func same(_ entities: String) -> LintScene {
    LintScene(
      shipped: [("App", entities)], shippedCurrent: "App", now: [("App", entities)], current: "App")
  }

  static func swift(_ before: String?, _ now: String) -> LintScene {
    LintScene(shippedSource: before, source: now)
  }

  static func write(_ versions: [Version], current: String?, to path: String) throws {
    for version in versions {
      let folder = path + "/" + version.name + ".xcdatamodel"
      try FileSystem.makeDirectory(folder)
      let text =
        version.entities.hasPrefix("<?xml") ? version.entities : contents(version.entities)
      try FileSystem.write(Array(text.utf8), to: folder + "/contents")
    }
    guard let current else { return }
    try FileSystem.write(Array(currentFile(current).utf8), to: path + "/.xccurrentversion")
  }

  static func currentFile(_ name: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
    <string>\(name).xcdatamodel</string></dict></plist>
    """
  }

  /// Writes everything and looks at it.
  func run(in folder: TemporaryFolder) throws -> LintRun {
    var options = options
    options.takesMergeBase = false
    let path: String
    if let source {
      path = folder.path("now.swift")
      try FileSystem.write(Array(source.utf8), to: path)
      if let shippedSource {
        try FileSystem.write(Array(shippedSource.utf8), to: folder.path("old.swift"))
        options.against = folder.path("old.swift")
      }
    } else {
      path = folder.path("App.xcdatamodeld")
      try Self.write(now, current: current, to: path)
      if !shipped.isEmpty {
        try Self.write(
          shipped, current: shippedCurrent, to: folder.path("old/App.xcdatamodeld"))
        options.against = folder.path("old/App.xcdatamodeld")
      }
    }
    if let recipe {
      try FileSystem.write(Array(recipe.utf8), to: folder.path("recipe.json5"))
      options.mappings = [folder.path("recipe.json5")]
    }
    if !objects.isEmpty {
      let store = folder.path("shipped.sqlite")
      let model = try shippedModel(in: folder)
      let writer = try StoreWriter(creating: store, model: model)
      for object in objects { try writer.insert(object.entity, attributes: object.attributes) }
      try writer.finish()
      options.stores = [store]
    }
    return try LintRun(of: path, options)
  }

  private func shippedModel(in folder: TemporaryFolder) throws -> Model {
    try ModelReference(
      shippedSource == nil ? folder.path("old/App.xcdatamodeld") : folder.path("old.swift")
    ).load().model
  }

  func run() throws -> LintRun { try run(in: TemporaryFolder()) }
}

extension LintRun {
  /// The findings of a rule.
  func findings(_ rule: String) -> [LintFinding] { findings.filter { $0.rule.id == rule } }

  /// `rule Entity.property:line`, each.
  var lines: [String] {
    findings.map { finding in
      "\(finding.rule.id) \(finding.subject ?? "—")"
        + (finding.line.map { ":\($0)" } ?? "")
    }
  }
}

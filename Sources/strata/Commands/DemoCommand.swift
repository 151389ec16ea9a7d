import Demo
import Files
import ManagedStore
import ModelWriting

/// `strata demo`: a believable store with its model versions, to try everything on.
enum DemoCommand {
  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let objects = try arguments.number("objects", atLeast: 1) ?? 5000
    let folder =
      arguments[0].isEmpty
      ? try FileSystem.makeTemporaryDirectory(prefix: "strata-demo") : arguments[0]
    let isJSON = arguments.flag("json")
    let written = try Waiting.tell("writing \(objects) objects", on: console) {
      try write(to: folder, objects: objects)
    }
    if isJSON {
      console.json { json in
        json.fields(["store": written.store, "model": written.model, "objects": written.objects])
      }
    } else {
      print(written, console)
    }
    guard !arguments.flag("no-open"), !isJSON, console.isTerminal else { return .done }
    // One in a temporary folder is not worth remembering.
    let request = Runtime.Request(path: written.store, keepsSession: !arguments[0].isEmpty)
    return try Runtime.open(request, console: console)
  }

  struct Written: Sendable, Equatable {
    let store: String
    let model: String
    let objects: Int
  }

  /// Writes the store and its model versions; what is there is never replaced.
  static func write(to folder: String, objects: Int) throws -> Written {
    let base = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    let store = base + "/Recipes.sqlite"
    let bundle = base + "/Recipes.xcdatamodeld"
    for path in [store, bundle] where FileIdentity(of: path) != nil {
      throw CoreDataError(
        .refused, "there is one already", path: path,
        hint: "Name another folder, or none for a fresh temporary one.")
    }
    try FileSystem.makeDirectory(base)
    let versions = try DemoModels.versions()
    for version in versions {
      let path = bundle + "/" + version.name + ".xcdatamodel"
      try FileSystem.makeDirectory(path)
      try FileSystem.create(
        path + "/contents", holding: Array(version.model.xcdatamodelContents().utf8))
    }
    try FileSystem.create(
      bundle + "/.xccurrentversion", holding: Array(currentVersion("Recipes 2.xcdatamodel").utf8))
    guard let first = versions.first else {
      throw CoreDataError(.failed, "the demo has no model")
    }
    let count = try DemoStore.write(to: store, model: first.model, objects: objects)
    return Written(store: store, model: bundle, objects: count)
  }

  private static func currentVersion(_ name: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
    "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
    \t<key>_XCCurrentVersionName</key>
    \t<string>\(name)</string>
    </dict>
    </plist>

    """
  }

  private static func print(_ written: Written, _ console: Console) {
    console.line("\(written.objects) objects, model “Recipes”:  \(written.store)")
    console.line("four model versions:  \(written.model)")
    console.line("try:")
    for command in [
      "strata info \(written.store)",
      "strata rows \(written.store) Recipe --sort createdAt:desc --columns title,author,tags",
      "strata plan \(written.store) --to \(written.model)",
      "strata plan \(written.store) --to \(written.model)@'Recipes 3'",
      "strata migrate \(written.store) --to \(written.model)",
    ] { console.line("  " + command) }
  }
}

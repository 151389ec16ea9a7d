import Files
import ManagedModel
import ManagedStore

/// Where a file made of a store's values may be written.
package enum ExportPlace {
  /// A file of the store's own, or one among those of an app, must not be written.
  ///
  /// - Parameter makesFolder: whether a folder that is not there will be made.
  package static func check(
    _ path: String, besides stores: [String], makesFolder: Bool = false
  ) throws {
    let place = FileSystem.canonical(FileSystem.parent(of: path) ?? ".")
    let bundle = place.split(separator: "/").first { part in
      [".app", ".appex", ".photoslibrary", ".xcappdata", ".momd", ".xcdatamodeld"]
        .contains { part.hasSuffix($0) }
    }
    if let bundle {
      throw CoreDataError(
        .usage, "that is inside \(bundle), which is not a place for other files",
        path: path, hint: "Name a file elsewhere.")
    }
    if let refusal = OutputPlace.refusal(
      toWrite: "the rows", at: path, besides: stores, makesFolder: makesFolder)
    {
      throw refusal
    }
  }
}

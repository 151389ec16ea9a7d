import Files
import ModelWriting

/// A model that a search came upon, with where it was and how well it fits.
public struct FoundModel: Sendable, Equatable {
  /// Where a model was found.
  public enum Origin: Sendable, Equatable {
    /// A .mom, or the folder of an .xcdatamodel.
    case file(path: String)
    /// The model cache of a store.
    case store(path: String)
    /// A commit of a git repository.
    case git(GitOrigin)
  }

  /// A content of a file in a repository's history.
  public struct GitOrigin: Sendable, Equatable {
    /// The repository's own folder (`.git`).
    public var repository: String
    /// The file's path within the repository.
    public var path: String
    /// git's name for the content, in hexadecimal; of Swift source, which is many files, the commit's.
    public var blob: String
    /// The first commit that had it; `nil` where the history was not asked.
    public var first: GitHistory.Commit?
    /// The last commit that had it: HEAD, where that has it still.
    public var last: GitHistory.Commit?
    /// Whether HEAD has it still.
    public var isCurrent: Bool
  }

  /// The version's name: that of the .xcdatamodel or .mom, or of the store.
  public var name: String
  /// The model itself.
  public var model: Model
  /// Where it was.
  public var origin: Origin
  /// The file's own XML, where it is such.
  public var contents: [UInt8]?
  /// Entities whose hashes are the store's, by name.
  public var matching: [String]
  /// Entities of either side whose hashes are not the other's, or that only one side has.
  public var differing: [String]

  /// Whether the hashes of all entities are the store's, so that Core Data would open it.
  public var isMatch: Bool { differing.isEmpty && !matching.isEmpty }

  /// Writes it as `NAME.xcdatamodel`: the very bytes found where they are XML, else rebuilt.
  ///
  /// - Returns: the path of the folder written.
  /// - Throws: ``CoreDataError``: refused where a folder of that name is there.
  public func export(to folder: String) throws -> String {
    let safe = name.filter { $0 != "/" && $0 != "\0" }
    let folderName = (safe.isEmpty || safe.hasPrefix(".") ? "Model" : safe) + ".xcdatamodel"
    let path = folder + "/" + folderName
    PendingOutput.removeAbandoned(beside: path)
    guard FileIdentity(of: path) == nil else {
      throw CoreDataError(
        .refused, "the folder exists already", path: path, hint: "Name another folder to export to."
      )
    }
    if let refusal = OutputPlace.refusal(toWrite: "the model", at: path, makesFolder: true) {
      throw refusal
    }
    let output = try PendingOutput(for: path, makesFolders: true)
    let made = try output.folder.createFolder(folderName, permissions: 0o755)
    let file = try made.create("contents")
    FileAttributes.makeOrdinary(file)
    try file.append(contents ?? Array(model.xcdatamodelContents().utf8))
    try output.sync(folderName)
    try output.finish()
    return path
  }
}

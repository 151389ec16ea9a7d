import Files
import JSON
import ManagedModel
import ManagedStore
import Migration

/// `plan --write-recipe FILE`: the recipe that a refusal asks for.
struct RecipeOutput {
  static let option = Option(
    "write-recipe", "FILE", .file,
    "write the recipe that a refusal asks for, with what is to be filled in marked")

  private let path: String
  private let isJSON: Bool

  /// `nil` where it was not asked for.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a place where no recipe may be written, and for a
  ///   file that is there.
  init?(_ arguments: Arguments, stores: [String]) throws {
    guard let path = arguments[Self.option] else { return nil }
    if let refusal = OutputPlace.refusal(toWrite: "the recipe", at: path, besides: stores) {
      throw refusal
    }
    guard FileIdentity(of: path) == nil else {
      throw CoreDataError(
        .usage, "the file is there already", path: path,
        hint: "Name another file for the recipe: none is overwritten.")
    }
    self.path = path
    isJSON = arguments[.json]
  }

  /// Writes the skeleton, and tells what is to be looked at in it.
  func write(_ skeleton: RecipeSkeleton, _ console: Console) throws {
    try FileSystem.create(path, holding: Array(skeleton.text.utf8))
    let marked = skeleton.gaps.count { $0.guess == nil }
    guard !isJSON else {
      console.json { json in
        json.object("recipe") { json in
          json.fields(["path": path, "from": skeleton.from, "to": skeleton.to])
          json.objects("gaps", skeleton.gaps) {
            ["place": $0.place, "reason": $0.reason, "guess": $0.guess]
          }
          json.field("rest", skeleton.rest)
        }
      }
      return
    }
    console.line("wrote \(path), a recipe from “\(skeleton.from)” to “\(skeleton.to)”")
    for gap in skeleton.gaps {
      console.paragraph("\(gap.guess == nil ? "!" : "~") \(gap.place): \(gap.reason)", indent: 4)
      console.paragraph(
        "    " + (gap.guess.map { "written: \($0)" } ?? "to be filled in"), indent: 8)
    }
    for sentence in skeleton.rest { console.paragraph("! \(sentence)", indent: 4) }
    console.line(
      (marked == 0
        ? "Look at what was written"
        : "Fill in \(marked == 1 ? "the marked place" : "the \(marked) marked places")")
        + ", then: strata plan … --mapping \(ShellText.quoted(path))")
  }
}

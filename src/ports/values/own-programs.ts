/** Programs that Parley itself chooses to run, such as `rg`: never one that a project brings along. */
export interface OwnPrograms {
  /**
   * The absolute path of the program: found in an absolute directory of PATH, neither it nor where it leads inside any of `roots`.
   * Undefined where there is none. PATH is searched once for each name.
   */
  find(name: string, roots: readonly string[]): Promise<string | undefined>
}

; The sliding-tile puzzle of any size: 2 x 2 to the 24-puzzle and beyond.
;
; Cells and tiles are objects, so that one network serves all sizes. `right` and `below` tell a network where a cell
; lies: with a mere `next` it could not tell the way to a goal from the way back. Every action slides one tile into the
; blank, in one direction each, so a plan has as many steps as the puzzle has moves.
(define (domain sliding-tiles)
    (:requirements :strips :typing)
    (:types cell tile)
    (:predicates
        (right ?left ?right - cell)
        (below ?above ?below - cell)
        (at ?tile - tile ?cell - cell)
        (blank ?cell - cell)
    )
    (:action slide-left
        :parameters (?tile - tile ?from ?to - cell)
        :precondition (and (at ?tile ?from) (blank ?to) (right ?to ?from))
        :effect (and (not (at ?tile ?from)) (at ?tile ?to) (not (blank ?to)) (blank ?from))
    )
    (:action slide-right
        :parameters (?tile - tile ?from ?to - cell)
        :precondition (and (at ?tile ?from) (blank ?to) (right ?from ?to))
        :effect (and (not (at ?tile ?from)) (at ?tile ?to) (not (blank ?to)) (blank ?from))
    )
    (:action slide-up
        :parameters (?tile - tile ?from ?to - cell)
        :precondition (and (at ?tile ?from) (blank ?to) (below ?to ?from))
        :effect (and (not (at ?tile ?from)) (at ?tile ?to) (not (blank ?to)) (blank ?from))
    )
    (:action slide-down
        :parameters (?tile - tile ?from ?to - cell)
        :precondition (and (at ?tile ?from) (blank ?to) (below ?from ?to))
        :effect (and (not (at ?tile ?from)) (at ?tile ?to) (not (blank ?to)) (blank ?from))
    )
)

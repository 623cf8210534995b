; Sokoban whose boxes are interchangeable: a level is solved when every goal cell holds some box.
;
; A box is a property of its cell and no object, so that states that differ only in which box stands where are one
; state, and the goal names cells only. There are no directions: `next` joins cells side by side, and `line` three
; cells in a row, which is all that a push needs. A network then sees a level the same way however it is turned or
; mirrored, and learns from one level what it would otherwise learn from eight. Walls are cells that are not there.
; Every action is one step of the player, so a plan has as many steps as the puzzle has moves.
(define (domain sokoban-boxes)
    (:requirements :strips :typing)
    (:types cell)
    (:predicates
        (next ?from ?to - cell)
        (line ?behind ?at ?ahead - cell)
        (player ?at - cell)
        (box ?at - cell)
        (clear ?at - cell)
    )
    (:action move
        :parameters (?from ?to - cell)
        :precondition (and (player ?from) (clear ?to) (next ?from ?to))
        :effect (and (not (player ?from)) (player ?to))
    )
    (:action push
        :parameters (?from ?to ?ahead - cell)
        :precondition (and (player ?from) (box ?to) (clear ?ahead) (line ?from ?to ?ahead))
        :effect (and
            (not (player ?from)) (player ?to)
            (not (box ?to)) (clear ?to)
            (not (clear ?ahead)) (box ?ahead)
        )
    )
)

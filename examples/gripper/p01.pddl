(define (problem gripper-6-1977052886)
    (:domain gripper-strips)
    (:objects
        rooma roomb left right ball1 ball2
    )
    (:init
        (room rooma)
        (room roomb)
        (gripper left)
        (gripper right)
        (ball ball1)
        (ball ball2)
        (at-robby roomb)
        (free left)
        (free right)
        (at ball1 rooma)
        (at ball2 rooma)
    )
    (:goal (and
        (at ball1 roomb)
        (at ball2 roomb)
    ))
)
